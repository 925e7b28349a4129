// The versions of what Sooth leaves on disk. Freestanding: the run time library includes it.
//
// Whoever changes what a file holds, or what bytes in it mean,
//   1. raises the version here,
//   2. says what changed in the list of versions of src/trace/format/FORMAT.md or src/trace/recording/STREAMS.md,
//   3. lets readers take the older versions as well (Control::version and Stage::version tell which one they have), or
//      raises the oldest one, so that these are refused by name,
//   4. runs `tests/recordings/run.py SOOTH --add`, which puts a recording of the new version beside the older ones.
// tools/check_versions.py fails when headers of the formats change and the version does not.
#pragma once

#include <cstdint>

namespace sooth {

// Recordings: what the run time library writes (recording/stream_format.h) and `sooth record` adds.
inline constexpr std::uint32_t kStreamVersion = 2;
inline constexpr std::uint32_t kOldestStreamVersion = 1;

// Trace directories: what `sooth trace convert` writes (format/format.h).
inline constexpr std::uint32_t kTraceVersion = 2;
inline constexpr std::uint32_t kOldestTraceVersion = 1;

}  // namespace sooth
