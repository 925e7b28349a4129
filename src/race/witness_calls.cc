#include "race/witness_calls.h"

#include <limits>

namespace sooth {

CallEdges::CallEdges(std::span<const Reach> reaches) : rest_(reaches) {
  for (const Reach& reach : reaches) {
    reachable_.assign(reach.begin, reach.begin + (reach.length - 1), true);
    everything_ = everything_ || (reach.begin == 0 && reach.length == std::numeric_limits<std::uint64_t>::max());
  }
}

void CallEdges::add(std::uint32_t id, const Event& e, bool wanted) {
  if (reachable_.empty()) {
    return;
  }
  const Step step{e.thread, id};
  before_.clear();
  if (e.op == Op::kCallBegin) {
    begin(id, e);
  }
  std::optional<Bytes> own = own_bytes(e);
  if (own && !reaches(*own)) {
    own.reset();
  }
  bool turn = false;
  if (own) {
    Steps called;
    look_up(called_, *own, called);
    turn = takes_turns(e.op) && !called.empty();
    note(before_, called);
    if (turn) {
      look_up(touched_, *own, before_);
    }
  }
  note(before_, all_called_);
  visit_open_calls(e, own, step);
  if (wanted) {
    for (const Step& earlier : before_) {
      if (earlier.thread != e.thread) {
        needs_.push_back({id, earlier.event});
      }
    }
  }
  if (own) {
    enter(touched_, *own, step);
    if (turn) {
      enter(called_, *own, step);
    }
  }
  if (everything_) {
    note(all_touched_, step);
  }
  if (e.op == Op::kCallEnd) {
    end(e, step);
  }
}

bool CallEdges::reaches(const Bytes& bytes) const {
  bool any = false;
  reachable_.for_each(bytes.first, bytes.last,
                      [&](std::uint64_t, std::uint64_t, const bool* there) { any = any || there != nullptr; });
  return any;
}

void CallEdges::begin(std::uint32_t id, const Event& e) {
  Call call{e.thread, e.object, {}, false, {}};
  for (; !rest_.empty() && raw(rest_.front().call) <= id; rest_ = rest_.subspan(1)) {
    const Reach& reach = rest_.front();
    call.bytes.push_back({reach.begin, reach.begin + (reach.length - 1)});
    call.everything =
        call.everything || (reach.begin == 0 && reach.length == std::numeric_limits<std::uint64_t>::max());
  }
  std::sort(call.bytes.begin(), call.bytes.end(), [](const Bytes& a, const Bytes& b) { return a.first < b.first; });
  std::vector<Bytes> apart;
  for (const Bytes& bytes : call.bytes) {
    if (!apart.empty() && bytes.first <= apart.back().last) {
      apart.back().last = std::max(apart.back().last, bytes.last);
    } else {
      apart.push_back(bytes);
    }
  }
  call.bytes = std::move(apart);
  for (const Bytes& bytes : call.bytes) {
    look_up(touched_, bytes, before_);
    look_up(called_, bytes, before_);
    enter(called_, bytes, {e.thread, id});
  }
  if (call.everything) {
    note(before_, all_touched_);
    note(all_called_, Step{e.thread, id});
  }
  open_.push_back(std::move(call));
}

void CallEdges::end(const Event& e, Step step) {
  const auto call = std::find_if(open_.rbegin(), open_.rend(),
                                 [&](const Call& open) { return open.thread == e.thread && open.object == e.object; });
  if (call == open_.rend()) {
    return;
  }
  for (const Bytes& bytes : call->bytes) {
    enter(called_, bytes, step);
  }
  if (call->everything) {
    note(all_called_, step);
  }
  open_.erase(std::next(call).base());
}

// News spreads from call to call, as far as their reaches allow, before anything else happens.
void CallEdges::visit_open_calls(const Event& e, const std::optional<Bytes>& own, Step step) {
  std::vector<std::size_t> spread;
  std::vector<bool> told(open_.size());
  const auto tell = [&](std::size_t i) {
    told[i] = true;
    spread.push_back(i);
  };
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const Call& call = open_[i];
    const bool of_own_thread = call.thread == e.thread && !call.bytes.empty();
    if (of_own_thread || call.everything || (own && overlap(call.bytes, {*own}))) {
      tell(i);
    }
  }
  for (std::size_t at = 0; at < spread.size(); ++at) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (!told[i] && can_talk(open_[spread[at]], open_[i])) {
        tell(i);
      }
    }
  }
  for (const std::size_t i : spread) {
    note(before_, open_[i].told);
    open_[i].told.assign(1, step);
  }
}

void CallEdges::note(Steps& steps, Step step) {
  const auto same = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.thread == step.thread; });
  if (same == steps.end()) {
    steps.push_back(step);
  } else {
    same->event = std::max(same->event, step.event);
  }
}

void CallEdges::note(Steps& steps, const Steps& more) {
  for (const Step& step : more) {
    note(steps, step);
  }
}

bool CallEdges::overlap(const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->last < y->first) {
      ++x;
    } else if (y->last < x->first) {
      ++y;
    } else {
      return true;
    }
  }
  return false;
}

// Calls of one thread are steps of one program.
bool CallEdges::can_talk(const Call& a, const Call& b) {
  if (a.bytes.empty() || b.bytes.empty()) {
    return false;
  }
  return a.thread == b.thread || overlap(a.bytes, b.bytes);
}

bool CallEdges::takes_turns(Op op) {
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
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence:
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kFork:
    case Op::kJoin:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kAlloc:
    case Op::kFree:
    case Op::kEnter:
    case Op::kExit:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kAcquireFailed: return false;
  }
  return false;
}

std::optional<CallEdges::Bytes> CallEdges::own_bytes(const Event& e) {
  if (is_access(e.op) || e.op == Op::kFree) {
    return Bytes{e.object, e.object + (e.size - 1)};
  }
  if (takes_turns(e.op) || is_lock_op(e.op)) {
    return Bytes{e.object, e.object};
  }
  return std::nullopt;
}

void CallEdges::look_up(const RangeMap<Steps>& map, const Bytes& bytes, Steps& steps) {
  map.for_each(bytes.first, bytes.last, [&](std::uint64_t, std::uint64_t, const Steps* there) {
    if (there != nullptr) {
      note(steps, *there);
    }
  });
}

void CallEdges::enter(RangeMap<Steps>& map, const Bytes& bytes, Step step) {
  struct Piece {
    Bytes bytes;
    Steps steps;
  };
  std::vector<Piece> pieces;
  map.for_each(bytes.first, bytes.last, [&](std::uint64_t first, std::uint64_t last, const Steps* there) {
    pieces.push_back({{first, last}, there != nullptr ? *there : Steps{}});
  });
  for (Piece& piece : pieces) {
    note(piece.steps, step);
    map.assign(piece.bytes.first, piece.bytes.last, piece.steps);
  }
}

}  // namespace sooth
