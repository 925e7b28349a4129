// The text file that says what a trace directory is and whether it is whole. FORMAT.md, "Life stages".
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "trace/reader.h"

namespace sooth {

struct Stage {
  TraceInfo info;             // incomplete: read from `incomplete`, not from `version`
  std::uint64_t bytes = 0;    // length of the events file; only when whole
};

// Looks for `version`, then for `incomplete`.
Result<Stage> read_stage(const std::string& directory);
// Creates `incomplete`: the trace is being written.
Status write_incomplete(const std::string& directory, const TraceInfo& info);
// Puts the totals in and renames it to `version`: the trace is whole.
Status write_version(const std::string& directory, const Stage& stage);

}  // namespace sooth
