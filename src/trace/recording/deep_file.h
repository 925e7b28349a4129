// The file `deep` of a recording: the code of its modules and where their globals were. STREAMS.md, "deep".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

// What the program has written, with a seal that says so. A module at the end that is not whole is cut off: its writer
// died.
std::string seal_deep_file(std::string bytes);

struct KeptModule {
  std::string_view bitcode;  // empty: the module was unloaded before the recording began
  std::vector<std::uint64_t> addresses;
};

class DeepFile {
 public:
  // Only what `sooth record` has sealed: every byte is checked.
  static Result<DeepFile> read(const std::string& recording);
  // `path` is for errors.
  static Result<DeepFile> parse(std::string bytes, std::string path);

  const std::string& path() const { return path_; }
  // By number. Valid while the file is neither moved nor destroyed.
  std::span<const KeptModule> modules() const { return modules_; }

 private:
  std::string path_;
  std::vector<char> bytes_;  // a string would take its short contents along when moved
  std::vector<KeptModule> modules_;
};

}  // namespace sooth
