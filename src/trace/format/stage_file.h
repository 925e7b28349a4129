// The text file that says what a trace directory is and whether it is whole. FORMAT.md, "Life stages".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "trace/reader.h"

namespace sooth {

enum class StageKind : std::uint8_t {
  kTrace,      // a trace directory (FORMAT.md)
  kRecording,  // what a recorded program left behind (src/trace/recording/STREAMS.md)
};

struct Stage {
  TraceInfo info;           // incomplete: read from `incomplete`, not from `version`
  std::uint64_t bytes = 0;  // length of the events file, or of `streams`; only when whole
  StageKind kind = StageKind::kTrace;
  std::uint64_t chunks = 0;   // of a recording
  std::uint64_t checks = 0;   // of a recording: the checksum of its file of checksums
  std::uint32_t version = 0;  // of the format that the files have; writers write the newest
};

// What to say of files in a version of the format that is not among those that this reader takes; ok for one that is.
// `what` is "trace" or "recording".
Status check_format_version(const std::string& path, const char* what, std::uint64_t version, std::uint32_t oldest,
                            std::uint32_t newest);

// Looks for `version`, then for `incomplete`.
Result<Stage> read_stage(const std::string& directory);
// nullopt when there is no `version`: the program still runs, or nobody finished its recording.
Result<std::optional<Stage>> read_recording_stage(const std::string& directory);
// Creates `incomplete`: the trace is being written.
Status write_incomplete(const std::string& directory, const TraceInfo& info);
// Puts the totals in and renames it to `version`: the trace is whole.
Status write_version(const std::string& directory, const Stage& stage);

}  // namespace sooth
