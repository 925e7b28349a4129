// The file `process` of a recording: what was run, and which files were loaded where. STREAMS.md, "process".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

struct RecordedModule {
  std::uint32_t loaded = 0;             // the generation in which it was seen first
  std::uint32_t unloaded = 0xffffffff;  // the first generation without it
  std::uint64_t bias = 0;               // what was added to the addresses of the ELF file
  std::uint64_t begin = 0;              // run time addresses [begin, end)
  std::uint64_t end = 0;
  std::string build_id;  // hexadecimal; empty when it has none
  std::string path;

  friend bool operator==(const RecordedModule&, const RecordedModule&) = default;
};

struct RecordedProcess {
  std::string command;                  // the arguments, joined by blanks; line feeds in them have become blanks
  std::vector<RecordedModule> modules;  // in order of loading
  std::uint32_t generation = 0;         // how many times modules had been unloaded

  // The module that `pc` belonged to in that generation; nullptr for code that comes from no file.
  const RecordedModule* find(std::uint64_t pc, std::uint32_t generation) const;
};

// A last line without its line feed is ignored: its writer died. Errors name `path` and the line.
Result<RecordedProcess> parse_process(std::string_view text, const std::string& path);

}  // namespace sooth
