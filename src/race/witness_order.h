// Must-order as the witness checker reads it off a trace: docs/semantics.md section 3, without any code of the
// analyses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "race/witness_semaphores.h"
#include "trace/event.h"

namespace sooth {

// Edges between threads. Program order is not among them: whoever asks checks that a thread's events stand in
// theirs. An event often has many predecessors (all arrivals of a barrier's round, all earlier messages, all heads
// of the release sequences that a store belongs to), and the next such event has the same and some more. So they are
// kept as chains: a link names an event and the link before it, and to need a link is to need the whole chain.
// Linear in the trace.
class MustEdges {
 public:
  // kHard is what section 7 keeps in a trace without calls: atomics are memory, and waits for semaphores that are counters
  // (WitnessSemaphores) need nobody.
  enum class Kept : std::uint8_t { kHard, kButAtomics, kAll };
  explicit MustEdges(Kept kept) : kept_(kept) {}

  // Every event once, in trace order. Only of `wanted` ones will be asked what they need. True: a wanted post or wait
  // that only changes the count of its semaphore.
  bool add(std::uint32_t id, const Event& e, bool wanted);

  // An event that must come before `id` and that is not done; nothing when all are. `done(event)` never goes back
  // from true to false between calls: what was found done is not asked again.
  template <typename Done>
  std::optional<std::uint32_t> missing(std::uint32_t id, Done&& done) {
    auto need =
        std::lower_bound(needs_.begin(), needs_.end(), id, [](const Need& n, std::uint32_t e) { return n.event < e; });
    for (; need != needs_.end() && need->event == id; ++need) {
      for (LinkId at = need->link; at != kNone && !links_[at].done; at = links_[at].before) {
        if (!done(links_[at].event)) {
          return links_[at].event;
        }
      }
      for (LinkId at = need->link; at != kNone && !links_[at].done; at = links_[at].before) {
        links_[at].done = true;
      }
    }
    return std::nullopt;
  }

 private:
  using LinkId = std::uint32_t;
  static constexpr LinkId kNone = std::numeric_limits<LinkId>::max();
  struct Link {
    std::uint32_t event;
    LinkId before;
    bool done = false;  // and so are all before it
  };
  struct Need {
    std::uint32_t event;
    LinkId link;
  };
  struct Thread {
    LinkId fork = kNone;
    std::optional<std::uint32_t> last;           // latest event so far
    std::optional<std::uint32_t> release_fence;  // latest so far
    std::vector<LinkId> pending;  // what loads without acquire semantics saw since the last acquire fence
  };
  struct Round {
    LinkId arrivals = kNone;
    bool open = true;
  };
  struct Barrier {
    std::vector<Round> rounds;
    std::map<ThreadId, std::size_t> inside;  // the round that the thread arrived for and has not left
  };

  LinkId link(std::uint32_t event, LinkId before = kNone);
  void need(LinkId link);
  Thread& thread(std::uint64_t number);
  void join(const Event& e);
  void arrive(const Event& e);
  void leave(const Event& e);
  void sem_wait(const Event& e, bool counts);
  void atomic(const Event& e);
  void load(const Event& e);
  void store(const Event& e);
  void fence(const Event& e);
  void alloc(const Event& e);
  static LinkId tail(const FlatMap<LinkId>& chains, std::uint64_t object);

  const Kept kept_;
  WitnessSemaphores semaphores_;
  std::uint32_t now_ = 0;  // the event that is being added
  bool wanted_ = false;
  std::vector<Link> links_;
  std::vector<Need> needs_;  // by event
  std::vector<Thread> threads_;
  FlatMap<LinkId> signals_;                   // the latest notify
  FlatMap<LinkId> messages_;                  // every happens-before so far
  FlatMap<std::deque<std::uint32_t>> posts_;  // not taken yet
  FlatMap<Barrier> barriers_;
  std::map<std::uint64_t, LinkId> released_;  // by address: heads of the release sequences that the latest store is in
};

}  // namespace sooth
