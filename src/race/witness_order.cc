#include "race/witness_order.h"

namespace sooth {

bool MustEdges::add(std::uint32_t id, const Event& e, bool wanted) {
  now_ = id;
  wanted_ = wanted;
  if (Thread& own = thread(raw(e.thread)); !own.last) {
    need(own.fork);
  }
  const bool counts = kept_ == Kept::kHard && semaphores_.add(e);
  switch (e.op) {
    case Op::kFork: thread(e.object).fork = link(id); break;
    case Op::kJoin: join(e); break;
    case Op::kNotify: signals_[e.object] = link(id); break;
    case Op::kWait: need(tail(signals_, e.object)); break;
    case Op::kBarrierArrive: arrive(e); break;
    case Op::kBarrierLeave: leave(e); break;
    case Op::kSemPost: posts_[e.object].push_back(id); break;
    case Op::kSemWait: sem_wait(e, counts); break;
    case Op::kHappensBefore: messages_[e.object] = link(id, tail(messages_, e.object)); break;
    case Op::kHappensAfter: need(tail(messages_, e.object)); break;
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence:
    case Op::kAlloc:
      if (kept_ == Kept::kAll) {
        atomic(e);
      }
      break;
    case Op::kRead:
    case Op::kWrite:
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kFree:
    case Op::kEnter:
    case Op::kExit:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kCondNotify:
    case Op::kCondWait:
    case Op::kAcquireFailed: break;
  }
  thread(raw(e.thread)).last = id;
  return counts && wanted;
}

MustEdges::LinkId MustEdges::link(std::uint32_t event, LinkId before) {
  links_.push_back({event, before});
  return static_cast<LinkId>(links_.size() - 1);
}

void MustEdges::need(LinkId link) {
  if (wanted_ && link != kNone) {
    needs_.push_back({now_, link});
  }
}

MustEdges::Thread& MustEdges::thread(std::uint64_t number) {
  if (number >= threads_.size()) {
    threads_.resize(number + 1);
  }
  return threads_[number];
}

MustEdges::LinkId MustEdges::tail(const FlatMap<LinkId>& chains, std::uint64_t object) {
  const LinkId* link = chains.find(object);
  return link != nullptr ? *link : kNone;
}

// The last event of the child stands for all of them; a child without events ran all the same, after its fork.
void MustEdges::join(const Event& e) {
  const Thread& child = thread(e.object);
  need(child.last ? link(*child.last) : child.fork);
}

void MustEdges::arrive(const Event& e) {
  Barrier& barrier = barriers_[e.object];
  if (barrier.rounds.empty() || !barrier.rounds.back().open) {
    barrier.rounds.emplace_back();
  }
  Round& round = barrier.rounds.back();
  round.arrivals = link(now_, round.arrivals);
  barrier.inside[e.thread] = barrier.rounds.size() - 1;
}

void MustEdges::leave(const Event& e) {
  Barrier& barrier = barriers_[e.object];
  if (barrier.rounds.empty()) {
    return;
  }
  const auto own = barrier.inside.find(e.thread);
  Round& round = own != barrier.inside.end() ? barrier.rounds[own->second] : barrier.rounds.back();
  round.open = false;
  need(round.arrivals);
  if (own != barrier.inside.end()) {
    barrier.inside.erase(own);
  }
}

// `counts`: it only needs some post.
void MustEdges::sem_wait(const Event& e, bool counts) {
  std::deque<std::uint32_t>& posts = posts_[e.object];
  if (!posts.empty()) {
    if (!counts) {
      need(link(posts.front()));
    }
    posts.pop_front();
  }
}

void MustEdges::atomic(const Event& e) {
  if (e.op == Op::kFence) {
    fence(e);
  } else if (e.op == Op::kAlloc) {
    alloc(e);
  }
  if (e.op == Op::kAtomicLoad || e.op == Op::kAtomicRmw) {
    load(e);
  }
  if (e.op == Op::kAtomicStore || e.op == Op::kAtomicRmw) {
    store(e);
  }
}

void MustEdges::load(const Event& e) {
  const auto seen = released_.find(e.object);
  if (seen == released_.end()) {
    return;
  }
  if (acquires(e.order)) {
    need(seen->second);
    return;
  }
  std::vector<LinkId>& pending = thread(raw(e.thread)).pending;
  if (pending.empty() || pending.back() != seen->second) {
    pending.push_back(seen->second);
  }
}

// A store starts anew; an rmw continues the release sequences that it found.
void MustEdges::store(const Event& e) {
  const std::optional<std::uint32_t> head = releases(e.order) ? now_ : thread(raw(e.thread)).release_fence;
  const auto found = released_.find(e.object);
  const LinkId before = e.op == Op::kAtomicRmw && found != released_.end() ? found->second : kNone;
  if (head) {
    released_[e.object] = link(*head, before);
  } else if (e.op == Op::kAtomicStore && found != released_.end()) {
    released_.erase(found);
  }
}

void MustEdges::fence(const Event& e) {
  Thread& own = thread(raw(e.thread));
  if (acquires(e.order)) {
    for (const LinkId seen : own.pending) {
      need(seen);
    }
    own.pending.clear();
  }
  if (releases(e.order)) {
    own.release_fence = now_;
  }
}

void MustEdges::alloc(const Event& e) {
  released_.erase(released_.lower_bound(e.object), released_.upper_bound(e.object + (e.size - 1)));
}

}  // namespace sooth
