// The environment that makes the run time library record or control a program. This, and the files that it names, is
// the whole contract between the two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

struct RecordingOptions {
  // `os`: threads run as the operating system lets them; the order of plain accesses is not recorded. Or what
  // parse_strategy() of schedule/strategy.h takes: one thread at a time, slower, and the recording is exact.
  std::string schedule = "os";
  std::uint64_t seed = 1;       // of a schedule that is drawn
  std::uint64_t max_bytes = 0;  // of `streams`; 0: no limit
  // From so many bytes on, accesses to memory that one thread has to itself are mostly left out, in serial recordings;
  // 0: never.
  std::uint64_t thin_from = 0;
  // Accesses that are left out: none ("off"), those that their thread has just recorded from the same place ("repeat"), or
  // those that a mode of stream::kFilterNames calls redundant, in kFree only.
  std::string filter = "repeat";
  // What is left out: patterns of modules, and of functions behind kFunctionPrefix (excluded_code.h), which
  // `exclude_code` stands for.
  std::vector<std::string> exclude;
  std::string exclude_code;  // ExcludedCode::ranges
  // What calls of that code may touch: "everything"; what they are seen to touch, made whole ("touched"); or nothing that counts ("none").
  std::string reach = "everything";
};

// Where a recording goes: into a new directory, or to a reader that follows it.
struct RecordingTarget {
  std::string directory;                       // absolute; the program makes it. Empty: live
  int streams = -1, sites = -1, process = -1;  // live: descriptors that the program inherits
  std::uint32_t chunk_limit = 0;               // live: chunks that may exist at a time
};

// `current` (NAME=VALUE each) for a program that loads `library` (path) and records as the options say. Settings of
// ours that `current` has are replaced; LD_PRELOAD keeps what it had, behind our library. Fails when LD_PRELOAD cannot
// express the path, and when the filter does not go with the scheduling.
Result<std::vector<std::string>> recording_environment(std::vector<std::string> current, const std::string& library,
                                                       const RecordingTarget& target, const RecordingOptions& options);

// Likewise for a program that runs under control: the files are those of schedule/protocol.h, by absolute paths.
// Nothing is recorded.
Result<std::vector<std::string>> controlled_environment(std::vector<std::string> current, const std::string& library,
                                                        const std::string& control_file, const std::string& log_file);

// The environment of this process.
std::vector<std::string> current_environment();

}  // namespace sooth
