#include "oracle/call_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace sooth::oracle {
namespace {

struct Bytes {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

bool overlap(const Bytes& a, const Bytes& b) { return a.first <= b.last && b.first <= a.last; }

struct Call {
  ThreadId thread{};
  Index begin = 0;
  std::optional<Index> end;
  std::vector<Bytes> reach;
  bool everything = false;
};

std::vector<Call> calls_of(std::span<const Event> trace, std::span<const Reach> reaches) {
  std::vector<Call> calls;
  for (Index i = 0; i < trace.size(); ++i) {
    if (trace[i].op == Op::kCallBegin) {
      Call call{trace[i].thread, i, std::nullopt, {}, false};
      for (const Reach& reach : reaches) {
        if (raw(reach.call) == i) {
          call.reach.push_back({reach.begin, reach.begin + (reach.length - 1)});
          call.everything =
              call.everything || (reach.begin == 0 && reach.length == std::numeric_limits<std::uint64_t>::max());
        }
      }
      calls.push_back(call);
    } else if (trace[i].op == Op::kCallEnd) {
      const auto open = std::find_if(calls.rbegin(), calls.rend(), [&](const Call& call) {
        return call.thread == trace[i].thread && !call.end && trace[call.begin].object == trace[i].object;
      });
      open->end = i;
    }
  }
  std::erase_if(calls, [](const Call& call) { return call.reach.empty(); });
  return calls;
}

// An event, or an unseen step.
struct Step {
  ThreadId thread{};
  std::optional<Index> event;
  std::vector<Bytes> touches;  // by itself
  std::vector<Bytes> reach;    // as a step inside calls, or of something that takes turns
  bool everything = false;     // ... touches all that others do, and them when they touch nothing
};

bool is_turn(Op op) {
  switch (op) {
    case Op::kNotify:
    case Op::kWait:
    case Op::kCondNotify:
    case Op::kCondWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kHappensBefore:
    case Op::kHappensAfter: return true;
    default: return false;
  }
}

std::vector<Bytes> touched_by(const Event& e) {
  if (is_access(e.op) || e.op == Op::kFree) {
    return {{e.object, e.object + (e.size - 1)}};
  }
  return is_turn(e.op) || is_lock_op(e.op) ? std::vector<Bytes>{{e.object, e.object}} : std::vector<Bytes>{};
}

bool any_overlap(const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Bytes& x) {
    return std::any_of(b.begin(), b.end(), [&](const Bytes& y) { return overlap(x, y); });
  });
}

// One of them is a step inside, and reaches what the other touches or reaches.
bool keep_their_order(const Step& a, const Step& b) {
  return a.thread == b.thread || a.everything || b.everything || any_overlap(a.reach, b.reach) ||
         any_overlap(a.reach, b.touches) || any_overlap(a.touches, b.reach);
}

class Unfolding {
 public:
  Unfolding(std::span<const Event> trace, std::span<const Reach> reaches)
      : trace_(trace), calls_(calls_of(trace, reaches)) {
    for (Index i = 0; i < trace.size(); ++i) {
      steps_.push_back(step_of(i));
      add_unseen(i);
    }
  }

  Relation order() const {
    // before[s]: the events that come before step s, or are it.
    std::vector<std::vector<bool>> before(steps_.size(), std::vector<bool>(trace_.size()));
    Relation relation(trace_.size());
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (std::size_t earlier = 0; earlier < s; ++earlier) {
        if (keep_their_order(steps_[earlier], steps_[s])) {
          for (Index e = 0; e < trace_.size(); ++e) {
            before[s][e] = before[s][e] || before[earlier][e];
          }
        }
      }
      if (const std::optional<Index> event = steps_[s].event) {
        for (Index e = 0; e < trace_.size(); ++e) {
          if (before[s][e]) {
            relation.add(e, *event);
          }
        }
        before[s][*event] = true;
      }
    }
    return relation;
  }

 private:
  // The event is one of a call from its begin to its end.
  Step step_of(Index i) const {
    Step step{trace_[i].thread, i, touched_by(trace_[i]), {}, false};
    for (const Call& call : calls_) {
      if (call.thread == trace_[i].thread && call.begin <= i && (!call.end || i <= *call.end)) {
        step.reach.insert(step.reach.end(), call.reach.begin(), call.reach.end());
        step.everything = step.everything || call.everything;
      }
      if (is_turn(trace_[i].op) && call.begin < i && any_overlap(call.reach, step.touches)) {
        step.reach.push_back(step.touches.front());
      }
    }
    return step;
  }

  // Behind the event, as many steps of each thread that is in a call as it takes to hand on anything to anyone.
  void add_unseen(Index i) {
    std::map<ThreadId, Step> inside;
    for (const Call& call : calls_) {
      if (call.begin <= i && (!call.end || i < *call.end)) {
        Step& step = inside.try_emplace(call.thread, Step{call.thread, std::nullopt, {}, {}, false}).first->second;
        step.reach.insert(step.reach.end(), call.reach.begin(), call.reach.end());
        step.everything = step.everything || call.everything;
      }
    }
    for (std::size_t round = 0; round < inside.size(); ++round) {
      for (const auto& [thread, step] : inside) {
        steps_.push_back(step);
      }
    }
  }

  const std::span<const Event> trace_;
  const std::vector<Call> calls_;
  std::vector<Step> steps_;
};

}  // namespace

Relation call_order(std::span<const Event> trace, std::span<const Reach> reaches) {
  return Unfolding(trace, reaches).order();
}

Relation kept_order(std::span<const Event> trace, std::span<const Reach> reaches) {
  if (reaches.empty()) {
    return hard_order(trace);
  }
  Relation order = must_order(trace);
  order.include(call_order(trace, reaches));
  order.close();
  return order;
}

bool reached_by_a_call(std::span<const Reach> reaches, const Event& access) {
  return std::any_of(reaches.begin(), reaches.end(), [&](const Reach& reach) {
    return overlap({reach.begin, reach.begin + (reach.length - 1)}, {access.object, access.object + (access.size - 1)});
  });
}

}  // namespace sooth::oracle
