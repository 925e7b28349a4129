// The must-order edges of docs/semantics.md section 3, once for all analyses.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "order/made_access.h"
#include "order/sparse_set.h"
#include "trace/event.h"

namespace sooth {

// Which of the rules of section 3 are followed. Hard order is what every witness keeps (section 7).
enum class KeepOrder : std::uint8_t { kMust, kHard };

// Follows forks, joins, signals, barriers, semaphores, messages and atomics, and tells the host who learns what from
// whom. Lock events are the host's own business. For each event the host calls incoming(), then does its own part, then
// calls outgoing(): an access sees what its thread has learnt by then, and is part of what its thread gives on.
//
// Message is what travels along an edge, usually a clock: default-constructible (knows nothing), copyable, with
// join(const Message&), empty() and clear(). Host provides
//   const Message& current(ThreadId);        // what the thread knows now, its own latest event included
//   void sent(ThreadId);                     // current() went out: later events of the thread are not in it
//   void receive(ThreadId, const Message&);  // the thread learns it
// and may provide
//   void restart(ThreadId);                  // a fork begins a thread of this number, which others may have had before
//   void rest(ThreadId);                     // the thread was joined: its clock is hardly ever asked for again
// A number may be used again once its thread was joined, by a thread that the joiner or someone after it forks
// (trace/tools/thread_slots.h).
//
// An atomic access without a memory order is one of a lock that the program made (order/lock_view.h): it orders nothing.
template <typename Host, typename Message>
class MustOrder {
 public:
  explicit MustOrder(Host& host, KeepOrder keep = KeepOrder::kMust) : host_(host), keep_(keep) {}

  // Edges that end at the event.
  void incoming(const Event& e) {
    switch (e.op) {
      case Op::kJoin: return join(e);
      case Op::kWait: return receive_if(e.thread, signals_.find(e.object));
      case Op::kBarrierLeave: return leave(e);
      case Op::kSemWait: return is_kept(e) ? sem_wait(e) : void();
      case Op::kHappensAfter: return receive_if(e.thread, messages_.find(e.object));
      case Op::kAtomicLoad:
      case Op::kAtomicRmw: return is_kept(e) ? take(e, released_at(e.object)) : void();
      case Op::kFence: return is_kept(e) ? take_pending(e) : void();
      case Op::kAlloc: return allocate(e);
      case Op::kRead:
      case Op::kWrite:
      case Op::kAtomicStore:
      case Op::kAcquire:
      case Op::kRelease:
      case Op::kNotify:
      case Op::kBarrierArrive:
      case Op::kSemPost:
      case Op::kFork:
      case Op::kBegin:
      case Op::kEnd:
      case Op::kFree:
      case Op::kHappensBefore:
      case Op::kEnter:
      case Op::kExit:
      case Op::kCallBegin:
      case Op::kCallEnd:
      case Op::kMisuse:
      case Op::kCondNotify:
      case Op::kCondWait:
      case Op::kAcquireFailed: return;
    }
  }

  // Edges that start at the event.
  void outgoing(const Event& e) {
    switch (e.op) {
      case Op::kFork: return fork(e);
      case Op::kNotify: signals_[e.object] = host_.current(e.thread); return host_.sent(e.thread);
      case Op::kBarrierArrive: return arrive(e);
      case Op::kSemPost: return is_kept(e) ? sem_post(e) : void();
      case Op::kHappensBefore: messages_[e.object].join(host_.current(e.thread)); return host_.sent(e.thread);
      case Op::kAtomicStore: return is_kept(e) ? store(e) : void();
      case Op::kAtomicRmw: return is_kept(e) ? continue_release(e) : void();
      case Op::kFence: return is_kept(e) ? release_fence(e) : void();
      case Op::kRead:
      case Op::kWrite:
      case Op::kAtomicLoad:
      case Op::kAcquire:
      case Op::kRelease:
      case Op::kWait:
      case Op::kBarrierLeave:
      case Op::kSemWait:
      case Op::kJoin:
      case Op::kBegin:
      case Op::kEnd:
      case Op::kAlloc:
      case Op::kFree:
      case Op::kHappensAfter:
      case Op::kEnter:
      case Op::kExit:
      case Op::kCallBegin:
      case Op::kCallEnd:
      case Op::kMisuse:
      case Op::kCondNotify:
      case Op::kCondWait:
      case Op::kAcquireFailed: return;
    }
  }

  // Calls visit(const Message&) for every message that somebody may still receive.
  template <typename Visit>
  void for_each_message(Visit&& visit) const {
    signals_.for_each([&](std::uint64_t, const Message& message) { visit(message); });
    messages_.for_each([&](std::uint64_t, const Message& message) { visit(message); });
    barriers_.for_each([&](std::uint64_t, const Barrier& barrier) {
      for (const Round& round : barrier.rounds) {
        visit(round.arrived);
      }
    });
    semaphores_.for_each([&](std::uint64_t, const std::deque<Message>& posts) {
      for (const Message& message : posts) {
        visit(message);
      }
    });
    atomics_.for_each([&](std::uint64_t, const std::vector<AtomicLocation>& line) {
      for (const AtomicLocation& location : line) {
        visit(location.released);
      }
    });
    for (const Fences& fences : fences_) {
      visit(fences.released);
      visit(fences.pending);
    }
  }

 private:
  // One use of a barrier by all its threads.
  struct Round {
    Message arrived;
    bool closed = false;
    std::uint32_t inside = 0;  // threads that arrived and have not left
  };
  struct Member {
    std::uint64_t round = 0;  // number + 1 of the round it is inside
    std::uint32_t life = 0;   // which of the threads of its number
  };
  struct Barrier {
    std::deque<Round> rounds;       // the newest at the back; older ones only while somebody is inside
    std::uint64_t first_round = 0;  // number of rounds.front()
    FlatMap<Member> members;        // by thread; round 0 for none
  };
  // The release sequences that the latest store to an address belongs to.
  struct AtomicLocation {
    std::uint64_t address;
    Message released;
  };
  // What fences of a thread need.
  struct Fences {
    Message released;  // by the latest release fence; goes out with relaxed stores
    Message pending;   // seen by relaxed loads; taken by the next acquire fence
  };
  static constexpr std::uint64_t kLine = 64;

  // Of a semaphore or atomic operation.
  bool is_kept(const Event& e) const { return keep_ == KeepOrder::kMust && !is_of_made_lock(e); }

  // Copies, because a host may move its clocks when a thread is new.
  void fork(const Event& e) {
    const Message message = host_.current(e.thread);
    const ThreadId child{static_cast<std::uint32_t>(e.object)};
    if (raw(child) < fences_.size()) {
      fences_[raw(child)] = {};
    }
    if (raw(child) >= lives_.size()) {
      lives_.resize(raw(child) + 1);
    }
    ++lives_[raw(child)];
    if constexpr (requires { host_.restart(child); }) {
      host_.restart(child);
    }
    host_.receive(child, message);
    host_.sent(e.thread);
  }
  // The thread that is over gives its clock away: whoever gets its number is later than that.
  void join(const Event& e) {
    const ThreadId over{static_cast<std::uint32_t>(e.object)};
    const Message message = host_.current(over);
    host_.sent(over);
    host_.receive(e.thread, message);
    if constexpr (requires { host_.rest(over); }) {
      host_.rest(over);
    }
  }

  void receive_if(ThreadId thread, const Message* message) {
    if (message != nullptr) {
      host_.receive(thread, *message);
    }
  }

  void arrive(const Event& e) {
    Barrier& barrier = barriers_[e.object];
    std::uint64_t& member = member_of(barrier, e.thread);
    if (member != 0) {
      --barrier.rounds[member - 1 - barrier.first_round].inside;
    }
    if (barrier.rounds.empty() || barrier.rounds.back().closed) {
      barrier.rounds.emplace_back();
    }
    Round& round = barrier.rounds.back();
    round.arrived.join(host_.current(e.thread));
    ++round.inside;
    member = barrier.first_round + barrier.rounds.size();
    drop_left_rounds(barrier);
    host_.sent(e.thread);
  }

  void leave(const Event& e) {
    Barrier& barrier = barriers_[e.object];
    if (barrier.rounds.empty()) {
      return;
    }
    std::uint64_t& member = member_of(barrier, e.thread);
    Round& round = member != 0 ? barrier.rounds[member - 1 - barrier.first_round] : barrier.rounds.back();
    round.closed = true;
    round.inside -= member != 0 ? 1 : 0;
    member = 0;
    host_.receive(e.thread, round.arrived);
    drop_left_rounds(barrier);
  }

  // The round that the thread is inside. One of the same number that is over leaves its round to be dropped.
  std::uint64_t& member_of(Barrier& barrier, ThreadId thread) {
    Member& member = barrier.members[raw(thread)];
    const std::uint32_t life = raw(thread) < lives_.size() ? lives_[raw(thread)] : 0;
    if (member.life != life && member.round != 0) {
      --barrier.rounds[member.round - 1 - barrier.first_round].inside;
      member.round = 0;
    }
    member.life = life;
    return member.round;
  }

  static void drop_left_rounds(Barrier& barrier) {
    while (barrier.rounds.size() > 1 && barrier.rounds.front().inside == 0) {
      barrier.rounds.pop_front();
      ++barrier.first_round;
    }
  }

  void sem_post(const Event& e) {
    semaphores_[e.object].push_back(host_.current(e.thread));
    host_.sent(e.thread);
  }
  void sem_wait(const Event& e) {
    std::deque<Message>* posts = semaphores_.find(e.object);
    if (posts != nullptr && !posts->empty()) {
      host_.receive(e.thread, posts->front());
      posts->pop_front();
    }
  }

  Fences& fences(ThreadId thread) {
    if (raw(thread) >= fences_.size()) {
      fences_.resize(raw(thread) + 1);
    }
    return fences_[raw(thread)];
  }

  // nullptr when nothing was ever released there.
  Message* released_at(std::uint64_t address) {
    std::vector<AtomicLocation>* line = atomics_.find(address / kLine);
    if (line != nullptr) {
      for (AtomicLocation& location : *line) {
        if (location.address == address) {
          return &location.released;
        }
      }
    }
    return nullptr;
  }
  Message& released_at_or_new(std::uint64_t address) {
    if (Message* message = released_at(address)) {
      return *message;
    }
    std::vector<AtomicLocation>& line = atomics_[address / kLine];
    lines_.insert(address / kLine);
    line.push_back({address, {}});
    return line.back().released;
  }

  void take(const Event& e, const Message* seen) {
    if (seen == nullptr || seen->empty()) {
      return;
    }
    if (acquires(e.order)) {
      host_.receive(e.thread, *seen);
    } else {
      fences(e.thread).pending.join(*seen);
    }
  }

  void store(const Event& e) {
    if (releases(e.order)) {
      released_at_or_new(e.object) = host_.current(e.thread);
      return host_.sent(e.thread);
    }
    const Message& released = fences(e.thread).released;
    if (!released.empty()) {
      released_at_or_new(e.object) = released;
    } else if (Message* message = released_at(e.object)) {
      message->clear();  // ends the release sequences
    }
  }

  void continue_release(const Event& e) {
    if (releases(e.order)) {
      released_at_or_new(e.object).join(host_.current(e.thread));
      return host_.sent(e.thread);
    }
    const Message& released = fences(e.thread).released;
    if (!released.empty()) {
      released_at_or_new(e.object).join(released);
    }
  }

  void take_pending(const Event& e) {
    Message& pending = fences(e.thread).pending;
    if (acquires(e.order) && !pending.empty()) {
      host_.receive(e.thread, pending);
      pending.clear();  // the edges end here: later fences come after this one anyway
    }
  }

  void release_fence(const Event& e) {
    if (releases(e.order)) {
      fences(e.thread).released = host_.current(e.thread);
      host_.sent(e.thread);
    }
  }

  void allocate(const Event& e) {
    if (atomics_.empty()) {
      return;
    }
    const std::uint64_t last = e.object + (e.size - 1);
    lines_.for_each(e.object / kLine, last / kLine, [&](std::uint64_t line) {
      std::erase_if(*atomics_.find(line),
                    [&](const AtomicLocation& l) { return l.address >= e.object && l.address <= last; });
    });
  }

  Host& host_;
  const KeepOrder keep_;
  FlatMap<Message> signals_;
  FlatMap<Message> messages_;
  FlatMap<Barrier> barriers_;
  FlatMap<std::deque<Message>> semaphores_;
  FlatMap<std::vector<AtomicLocation>> atomics_;  // by line of kLine bytes
  SparseSet lines_;                               // of atomics_
  std::vector<Fences> fences_;
  std::vector<std::uint32_t> lives_;  // by thread: how often it was forked
};

}  // namespace sooth
