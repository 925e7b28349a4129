#include "race/witness_conditions.h"

#include <algorithm>

namespace sooth {

void WitnessConditions::pass(const Event& e) {
  if (e.op == Op::kRelease) {
    begins_[e.thread] = ++time_;
  } else if (e.op == Op::kCondNotify) {
    notifies_[e.object].push_back({++time_, notifies_everybody(e)});
  }
}

bool WitnessConditions::take(const Event& wait) {
  const auto notifies = notifies_.find(wait.object);
  if (notifies == notifies_.end()) {
    return false;
  }
  const auto begin = begins_.find(wait.thread);
  const std::uint64_t since = begin == begins_.end() ? 0 : begin->second;
  const auto end = notifies->second.end();
  const auto first =
      std::partition_point(notifies->second.begin(), end, [&](const Notify& n) { return n.time < since; });
  if (std::any_of(first, end, [](const Notify& n) { return n.everybody; })) {
    return true;
  }
  const auto free = std::find_if(first, end, [](const Notify& n) { return !n.taken; });
  if (free == end) {
    return false;
  }
  free->taken = true;
  return true;
}

std::unordered_set<std::uint32_t> explained_waits(std::span<const Event> trace) {
  std::unordered_set<std::uint32_t> explained;
  if (std::none_of(trace.begin(), trace.end(), was_woken)) {
    return explained;
  }
  WitnessConditions conditions;
  for (std::uint32_t id = 0; id < trace.size(); ++id) {
    if (was_woken(trace[id]) && conditions.take(trace[id])) {
      explained.insert(id);
    }
    conditions.pass(trace[id]);
  }
  return explained;
}

}  // namespace sooth
