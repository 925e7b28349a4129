// Which notify a wait for a condition variable takes: docs/semantics.md section 7, for analyses that follow a trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"

namespace sooth {

// Given all events of a trace in their order, or at least releases, forks, notifies and waits. Moment is what the caller
// wants to know a notify by. Memory grows with the notifies that nobody took; time is logarithmic in them, mostly.
template <typename Moment>
class ConditionWaits {
 public:
  // A release begins the next wait of its thread. A fork makes a thread of a number that others may have had before.
  void begin(const Event& e) {
    if (e.op == Op::kRelease) {
      begin_of(raw(e.thread)) = now_;
    } else if (e.op == Op::kFork) {
      begin_of(e.object) = 0;
    }
  }

  void notify(const Event& e, const Moment& moment) {
    Condition& condition = conditions_[e.object];
    (notifies_everybody(e) ? condition.to_all : condition.to_one).push_back({++now_, moment});
  }

  // The notify that the wait, which was woken, takes.
  std::optional<Moment> take(const Event& e) {
    Condition* condition = conditions_.find(e.object);
    if (condition == nullptr) {
      return std::nullopt;
    }
    const std::uint64_t begin = begin_of(raw(e.thread));
    if (const auto all = first_behind(condition->to_all, begin); all != condition->to_all.end()) {
      return all->moment;
    }
    const auto one = first_behind(condition->to_one, begin);
    if (one == condition->to_one.end()) {
      return std::nullopt;
    }
    const Moment moment = one->moment;
    condition->to_one.erase(one);
    return moment;
  }

 private:
  struct Notify {
    std::uint64_t number;  // of all notifies, from 1
    Moment moment;
  };
  struct Condition {
    std::vector<Notify> to_all;
    std::vector<Notify> to_one;  // that nobody has taken
  };

  static auto first_behind(std::vector<Notify>& notifies, std::uint64_t begin) {
    return std::partition_point(notifies.begin(), notifies.end(), [&](const Notify& n) { return n.number <= begin; });
  }
  std::uint64_t& begin_of(std::uint64_t thread) {
    if (thread >= begins_.size()) {
      begins_.resize(thread + 1);
    }
    return begins_[thread];
  }

  std::uint64_t now_ = 0;  // notifies so far
  FlatMap<Condition> conditions_;
  std::vector<std::uint64_t> begins_;  // by thread: notifies at its latest release
};

}  // namespace sooth
