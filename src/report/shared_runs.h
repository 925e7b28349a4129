// Stretches of long witnesses, written once: witnesses in one trace mostly run through it in the same way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "race/finding.h"

namespace sooth {

// A witness of at most so many stretches has them beside it in a report.
inline constexpr std::size_t kMaxOwnRuns = 100;
// So many stretches at most may be shared by the witnesses of a report: reading a small file must not fill the memory.
inline constexpr std::uint64_t kMaxSharedRuns = 16'000'000;

class SharedRuns {
 public:
  // Stretches [first, first + count) of the table.
  struct Slice {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };

  // What `runs` is made of; the table grows by what it lacks. Nothing when there would be too many.
  std::optional<std::vector<Slice>> add(const std::vector<WitnessSummary::Run>& runs);
  const std::vector<WitnessSummary::Run>& table() const { return table_; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
  std::vector<WitnessSummary::Run> table_;
  std::map<Key, std::uint64_t> index_;  // into the table
  std::uint64_t total_ = 0;             // of all witnesses
};

}  // namespace sooth
