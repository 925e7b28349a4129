// The order of WCP as clocks: docs/wcp.md. Pairs of accesses are the business of whoever asks for it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "detect/epoch_summary.h"
#include "detect/section_guards.h"
#include "detect/section_queue.h"
#include "detect/wcp_message.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/packed_clock.h"
#include "order/vector_clock.h"

namespace sooth {

// `<<` or must-order: the order by which pairs are judged. Of clocks that are not empty.
class WcpKnowledge {
 public:
  WcpKnowledge(const VectorClock& wcp, const VectorClock& must)
      : wcp_(wcp), must_(must), wcp_view_(wcp), must_view_(must) {}

  bool knows(Epoch epoch) const {
    return epoch.time() <= std::max(wcp_view_.at(epoch.thread()), must_view_.at(epoch.thread()));
  }
  bool covers(const VectorClock& times) const { return VectorClock::covered(times, wcp_, must_); }

 private:
  const VectorClock& wcp_;
  const VectorClock& must_;
  ClockView wcp_view_;
  ClockView must_view_;
};

// Algorithm 1 of the paper, repaired as docs/wcp.md says: what the threads know, from lock events, must-order edges and the
// accesses in critical sections. Of an access in a section first call access_in_sections() for all its cells; for an
// atomic one, incoming() before that and outgoing() in the end.
class WcpOrder {
 public:
  // Sections that nobody can ask for any more are looked for when so many have come together.
  explicit WcpOrder(std::size_t trim_at)
      : trim_at_(trim_at),
        packed_from_(trim_at == 1 ? 1 : 64),
        forget_at_(trim_at),
        guards_(pool_),
        must_order_(*this) {}
  WcpOrder(const WcpOrder&) = delete;
  WcpOrder& operator=(const WcpOrder&) = delete;

  const LockSets& locks() const { return locks_; }
  // Local time of the thread, which begins to exist with this.
  Time time(ThreadId id) { return thread(id).clocks.must[id]; }
  // What the thread knows; it exists. Valid until the next event of anybody, but for plain accesses outside of sections.
  WcpKnowledge known(ThreadId id) const {
    const WcpClocks& own = threads_[raw(id)].clocks;
    return {own.wcp, own.must};
  }
  bool in_section(ThreadId id) const { return !threads_[raw(id)].open.empty(); }

  // As HbOrder has it: by happens-before, all sections of the lock that have ended precede what the thread does next.
  bool knows_sections(ThreadId id, std::uint64_t lock) {
    const Lock* state = lock_states_.find(lock);
    const VectorClock& hb = thread(id).clocks.hb;
    return state == nullptr || (hb.covers(pool_[state->exclusive_hb]) && hb.covers(state->shared_hb));
  }

  void acquire(const Event& e);
  void release(const Event& e);
  void incoming(const Event& e) {
    (void)thread(e.thread);
    must_order_.incoming(e);
  }
  void outgoing(const Event& e) { must_order_.outgoing(e); }
  // The thread is over: its clocks are packed until somebody asks for them, who joins it.
  void rest(ThreadId id);

  [[gnu::always_inline]] void access_in_sections(CellId cell, const Event& e) {
    for (const std::uint32_t number : threads_[raw(e.thread)].open) {
      access_in_section(number, cell, e.thread, access_kind(e.op));
    }
  }
  void prefetch(CellId cell) const { guards_.prefetch(cell); }
  // The cells of ShadowMemory.
  void on_split_cell(CellId from, CellId to);
  void on_drop_cell(CellId cell) { guards_.drop_cell(cell); }

  // Rows for Detector::stats(), of a trace of so many events.
  std::vector<std::pair<std::string, std::string>> stats(std::uint64_t events) const;

  // MustOrder's host.
  const WcpMessage& current(ThreadId id) {
    const Thread& sender = thread(id);
    const bool in_section = !sender.open.empty();
    message_.clocks = sender.clocks;
    message_.senders.resize(1);
    message_.senders[0] = {{id, sender.began}, sender.clocks.hb, in_section ? sender.clocks.hb : VectorClock()};
    return message_;
  }
  void sent(ThreadId id) { advance(id); }
  void restart(ThreadId id);
  void receive(ThreadId id, const WcpMessage& message);

 private:
  struct Thread {
    WcpClocks clocks;
    std::vector<std::uint32_t> open;  // its open sections, outermost first
    Time began = 0;                   // when the thread that has the number now was forked
  };
  // Of a thread that is over.
  struct Resting {
    PackedClock hb;
    PackedClock wcp;
    PackedClock must;
  };
  // What an open section has accessed under its lock.
  struct Touched {
    GuardId guard{};
    std::uint32_t generation = 0;
    std::uint8_t kinds = 0;  // bit k: in the way of AccessKind k
  };
  struct Section {
    std::uint64_t lock = 0;
    bool shared = false;
    Time acquired = 0;
    std::vector<Touched> touched;  // with room for one more behind the first `touched_count`, which count
    std::uint32_t touched_count = 0;
  };
  // What the closed sections of a lock say to later acquires and releases.
  struct Lock {
    ClockId exclusive_hb = kNoClock;  // of the latest exclusive release
    VectorClock exclusive_wcp;
    ThreadId releaser{};    // whose it is
    VectorClock shared_hb;  // of shared releases since
    VectorClock shared_wcp;
    SectionQueue exclusive_sections;
    std::vector<std::pair<ThreadId, SectionQueue>> shared_sections;
  };

  Thread& thread(ThreadId id) {
    if (raw(id) >= threads_.size()) {
      threads_.resize(raw(id) + 1);
    }
    Thread& result = threads_[raw(id)];
    if (result.clocks.must.empty()) [[unlikely]] {
      start(id, result);
    }
    return result;
  }
  void start(ThreadId id, Thread& fresh);
  ThreadLife life_of(ThreadId id) const { return {id, threads_[raw(id)].began}; }
  void advance(ThreadId id) {
    WcpClocks& own = threads_[raw(id)].clocks;
    const Time next = own.must[id] + 1;
    own.hb.set(id, next);
    own.must.set(id, next);
  }

  void apply_rule_b(ThreadId id, const Section& section, Lock& lock);
  void close_section(ThreadId id, const Section& section, Lock& lock);
  // `said` is the clock of section.said.
  void push(SectionQueue& queue, SectionQueue::Section section, const VectorClock& said);
  void forget_sections();
  void mark_needed(const std::vector<SectionQueue*>& queues);
  std::uint32_t open_section(const Event& e, Time acquired);
  void learn(VectorClock& wcp, const ThreadLife& own, const ClosedSection& section) {
    if (section.released != 0 && !own.did(section.thread, section.released) &&
        !wcp.knows(Epoch(section.thread, section.released))) {
      wcp.join(pool_[section.said]);
    }
  }
  void access_in_section(std::uint32_t number, CellId cell, ThreadId id, AccessKind kind);
  void apply_rule_a(std::uint32_t number, GuardId guard, ThreadId id, AccessKind kind);
  void note_access(std::uint32_t number, GuardId guard, AccessKind kind);

  const std::size_t trim_at_;
  const std::size_t packed_from_;  // components that a clock has at least whose section keeps it packed
  std::uint64_t forget_at_;        // sections in all queues at which they are looked through next
  ClockPool pool_;
  SectionGuards guards_;
  std::vector<Thread> threads_;  // with empty clocks: not started, or in resting_
  FlatMap<Resting> resting_;     // by thread
  LockSets locks_;
  FlatMap<Lock> lock_states_;
  std::vector<Section> sections_{1};  // by number; 0 is none
  std::vector<std::uint32_t> free_sections_;
  MustOrder<WcpOrder, WcpMessage> must_order_;
  WcpMessage message_;

  std::uint64_t stored_ = 0;  // sections in all queues
  std::uint64_t most_stored_ = 0;
  std::uint64_t sweep_work_ = 0;  // steps of the latest forget_sections()
};

// Whether rule (a) teaches anything is decided without branches on the kind of access, which cannot be predicted.
inline void WcpOrder::access_in_section(std::uint32_t number, CellId cell, ThreadId id, AccessKind kind) {
  const GuardId guard_id = guards_.find(sections_[number].lock, cell);
  const Guard& guard = guards_[guard_id];
  const ClockView wcp(threads_[raw(id)].clocks.wcp);
  const ThreadLife own = life_of(id);
  const ClosedSection& read = guard.latest_of_others(AccessKind::kRead, own);
  const ClosedSection& written = guard.latest_of_others(AccessKind::kWrite, own);
  const unsigned new_plain =
      (read.released > wcp[read.thread] ? 1u : 0u) | (written.released > wcp[written.thread] ? 2u : 0u);
  const bool only_plain = guard.kinds < 4 && guard.shared == 0;
  if ((new_plain & conflicting_kinds(kind)) != 0 || !only_plain) [[unlikely]] {
    apply_rule_a(number, guard_id, id, kind);
  }
  note_access(number, guard_id, kind);
}

// Once for each guard, without branches on whether it is the first time.
inline void WcpOrder::note_access(std::uint32_t number, GuardId guard_id, AccessKind kind) {
  Guard& guard = guards_[guard_id];
  Section& section = sections_[number];
  const std::uint32_t count = section.touched_count;
  if (count == section.touched.size()) [[unlikely]] {
    section.touched.resize(std::max<std::size_t>(8, 2 * section.touched.size()));
  }
  Touched* const touched = section.touched.data();
  const std::uint32_t noted = std::min(guard.open_position, count);
  const unsigned again = (guard.open_section == number ? 1u : 0u) & (noted < count ? 1u : 0u) &
                         (touched[noted].guard == guard_id ? 1u : 0u);
  const std::uint32_t position = count - (count - noted) * again;
  const unsigned kinds = touched[noted].kinds * again | 1u << raw(kind);
  touched[position] = {guard_id, guard.generation, static_cast<std::uint8_t>(kinds)};
  section.touched_count = count + 1 - again;
  guard.open_section = number;
  guard.open_position = position;
}

}  // namespace sooth
