#include "report/shared_runs.h"

namespace sooth {

std::optional<std::vector<SharedRuns::Slice>> SharedRuns::add(const std::vector<WitnessSummary::Run>& runs) {
  if (runs.size() > kMaxSharedRuns - total_) {
    return std::nullopt;
  }
  total_ += runs.size();
  std::vector<Slice> slices;
  for (const WitnessSummary::Run& run : runs) {
    const auto [it, added] = index_.try_emplace(Key(raw(run.thread), raw(run.first), raw(run.last)), table_.size());
    if (added) {
      table_.push_back(run);
    }
    if (!slices.empty() && slices.back().first + slices.back().count == it->second) {
      ++slices.back().count;
    } else {
      slices.push_back({it->second, 1});
    }
  }
  return slices;
}

}  // namespace sooth
