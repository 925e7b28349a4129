// What makes a recording whole: the stage file `version` and the checksums in `checks`. STREAMS.md, "Stages".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/recording/chunk_source.h"

namespace sooth {

inline constexpr char kChecksFile[] = "checks";

// Called once the program is over and `symbols` is written: from then on damage is found, whatever it hits. A recording
// that already has its checksums gets new ones. An error leaves it as it was, readable but incomplete.
Status finish_recording(const std::string& directory);

// The side columns that a recording with these Control::flags has.
ColumnSet recording_columns(std::uint32_t flags);

struct RecordingChecks {
  bool whole = false;       // there is a `version`
  std::uint64_t bytes = 0;  // of `streams`
  std::uint64_t control = 0;
  std::uint64_t sites = 0;
  std::uint64_t process = 0;
  std::vector<std::uint64_t> chunks;

  // Compares all but the chunks, and hands their checksums to `source`. Nothing to compare when it is not whole.
  Status verify(const std::string& directory, ChunkSource& source, std::string_view site_bytes,
                std::string_view process_bytes) const;
};
Result<RecordingChecks> read_recording_checks(const std::string& directory);

}  // namespace sooth
