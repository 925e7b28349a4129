// What a report does not speak of, sorted by reason; and which part of a campaign it is of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sooth {

enum class GapKind : std::uint8_t {
  kNotExecuted,   // code that the recorded run did not come to
  kExcludedCode,  // code that was left out, and calls of it
  kLibrary,       // libraries that are not instrumented
  kRecording,     // processes and ends of runs that are not in the recording
  kWindow,        // events and pairs beyond the bounds of an analysis
  kUnknown,       // pairs without an answer
  kBudget,        // time
  kTrials,        // findings that controlled runs did not reach or did not try
  kControl,       // what controlled runs could not control
};
inline constexpr int kGapKindCount = 9;
std::string_view gap_kind_name(GapKind kind);  // "excluded-code"
std::optional<GapKind> gap_kind_from_name(std::string_view name);

struct Gap {
  GapKind kind = GapKind::kNotExecuted;
  std::string text;  // a sentence

  friend bool operator==(const Gap&, const Gap&) = default;
};

// A report that holds the answers to a part of a campaign (sooth confirm --shard).
struct ShardOfCampaign {
  std::uint32_t index = 1, count = 1;  // index from 1
  std::string campaign;                // equal for the shards of one campaign, and only for them
  std::vector<std::string> tried;      // ids of the findings that are its part

  friend bool operator==(const ShardOfCampaign&, const ShardOfCampaign&) = default;
};

}  // namespace sooth
