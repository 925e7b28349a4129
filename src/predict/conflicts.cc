#include "predict/conflicts.h"

#include <algorithm>

namespace sooth {

void Conflicts::choose(EventIndex event) {
  chosen_ = event;
  ++round_;
  for (const VariableIndex v : index_.variables(event)) {
    if (v >= touched_.size()) {
      touched_.resize(std::max<std::size_t>(v + std::size_t{1}, 2 * touched_.size()));
    }
    touched_[v] = round_;
  }
}

bool Conflicts::conflicts_with(EventIndex other, StopPoll& poll) const {
  const Event& x = index_.event(chosen_);
  const Event& y = index_.event(other);
  if (poll.stop() || x.thread == y.thread || !(is_write(x.op) || is_write(y.op)) ||
      (is_atomic(x.op) && is_atomic(y.op))) {
    return false;
  }
  for (const VariableIndex v : index_.variables(other)) {
    if (v < touched_.size() && touched_[v] == round_) {
      return true;
    }
    if (poll.stop()) {
      return false;
    }
  }
  return false;
}

}  // namespace sooth
