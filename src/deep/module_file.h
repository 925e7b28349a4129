// The file `deep` of a recording: the code of its modules and where their globals were. trace/STREAMS.md, "deep".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

// Named metadata of the kept code: the globals whose addresses the recording has, one per node.
inline constexpr char kPlacedGlobals[] = "sooth.placed";

struct KeptModule {
  std::string_view bitcode;
  std::vector<std::uint64_t> addresses;
};

class ModuleFile {
 public:
  // Only what `sooth record` has sealed: every byte is checked.
  static Result<ModuleFile> read(const std::string& recording);
  // `path` is for errors.
  static Result<ModuleFile> parse(std::string bytes, std::string path);

  const std::string& path() const { return path_; }
  // By number. Valid while the file is neither moved nor destroyed.
  std::span<const KeptModule> modules() const { return modules_; }

 private:
  std::string path_;
  std::vector<char> bytes_;  // a string would take its short contents along when moved
  std::vector<KeptModule> modules_;
};

}  // namespace sooth
