#include "detect/wcp.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "detect/access_history.h"
#include "detect/epoch_summary.h"
#include "detect/needed_sections.h"
#include "detect/section_guards.h"
#include "detect/section_queue.h"
#include "detect/wcp_message.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/role.h"
#include "order/vector_clock.h"

namespace sooth {
namespace {

// `<<` or must-order: the order by which pairs are judged. Of clocks that are not empty.
class Knowledge {
 public:
  Knowledge(const VectorClock& wcp, const VectorClock& must)
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

class WcpDetector final : public Detector {
 public:
  explicit WcpDetector(std::size_t trim_at)
      : trim_at_(trim_at),
        forget_at_(trim_at),
        guards_(pool_),
        history_(*this, AccessLog::Keys::kPlain),
        must_order_(*this) {}

  Guarantee guarantee() const override { return Guarantee::kSoundFirstOnly; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override;

  void consume(const Batch& batch) override {
    history_.consume(batch);
    events_ += batch.events.size();
  }

  // AccessHistory's host.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    return {e, batch.id(i), thread(e.thread).clocks.must[e.thread], locks_.of(e.thread), batch.stack(i)};
  }
  [[gnu::always_inline]] void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    // Most of them; an indirect jump would be harder to predict.
    if (e.op == Op::kAcquire) {
      return acquire(e);
    }
    if (e.op == Op::kRelease) {
      return release(e);
    }
    step_rarely(batch, i);
  }
  void step_rarely(const Batch& batch, std::size_t i);
  LockSetId locks_of(ThreadId thread) const { return locks_.of(thread); }
  void prefetch(CellId cell) const { guards_.prefetch(cell); }
  [[gnu::always_inline]] void before_touch(CellId cell, const AccessView& access) {
    for (const std::uint32_t number : threads_[raw(access.event.thread)].open) {
      access_in_section(number, cell, access.event.thread, access_kind(access.event.op));
    }
  }
  [[gnu::always_inline]] void touch(CellId id, EpochSummary& cell, const AccessView& access) {
    const WcpClocks& own = threads_[raw(access.event.thread)].clocks;
    const Epoch now(access.event.thread, access.time);
    if (!cell.add_if_known(access_kind(access.event.op), now, Knowledge(own.wcp, own.must))) {
      compare(id, cell, access);
    }
  }
  void on_split_cell(CellId from, CellId to);
  void on_drop_cell(CellId cell) { guards_.drop_cell(cell); }

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
    Time began = 0;                   // when the thread that has the number now was forked; 0: not started
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
    if (result.began == 0) [[unlikely]] {
      start(id, result);
    }
    return result;
  }
  static void start(ThreadId id, Thread& fresh) {
    fresh.began = 1;
    fresh.clocks.hb.set(id, 1);
    fresh.clocks.must.set(id, 1);
    fresh.clocks.wcp.set(id, 0);  // not empty, for Knowledge
  }
  ThreadLife life_of(ThreadId id) const { return {id, threads_[raw(id)].began}; }
  void advance(ThreadId id) {
    WcpClocks& own = threads_[raw(id)].clocks;
    const Time next = own.must[id] + 1;
    own.hb.set(id, next);
    own.must.set(id, next);
  }

  void acquire(const Event& e);
  void release(const Event& e);
  void apply_rule_b(ThreadId id, const Section& section, Lock& lock);
  void close_section(ThreadId id, const Section& section, Lock& lock);
  void push(SectionQueue& queue, const SectionQueue::Section& section);
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
  void compare(CellId id, EpochSummary& cell, AccessView access);
  void find_races(CellId cell, const AccessRecord& access, const Knowledge& known);

  const std::size_t trim_at_;
  std::uint64_t forget_at_;  // sections in all queues at which they are looked through next
  ClockPool pool_;
  SectionGuards guards_;
  std::vector<Thread> threads_;
  LockSets locks_;
  FlatMap<Lock> lock_states_;
  std::vector<Section> sections_{1};  // by number; 0 is none
  std::vector<std::uint32_t> free_sections_;
  AccessHistory<WcpDetector, EpochSummary> history_;
  MustOrder<WcpDetector, WcpMessage> must_order_;
  WcpMessage message_;
  PairTable races_;

  std::uint64_t events_ = 0;
  std::uint64_t stored_ = 0;  // sections in all queues
  std::uint64_t most_stored_ = 0;
  std::uint64_t sweep_work_ = 0;  // steps of the latest forget_sections()
};

void WcpDetector::step_rarely(const Batch& batch, std::size_t i) {
  const Event& e = batch.events[i];
  switch (role_of(e.op)) {
    case Role::kAccess:
      must_order_.incoming(e);
      history_.access(record_of(batch, i));
      return must_order_.outgoing(e);
    case Role::kFree: return history_.free(record_of(batch, i));
    case Role::kAlloc: history_.allocate(e); return must_order_.incoming(e);
    case Role::kAcquire: return acquire(e);
    case Role::kRelease: return release(e);
    case Role::kEdge:
      (void)thread(e.thread);
      must_order_.incoming(e);
      return must_order_.outgoing(e);
    case Role::kNone: return;
  }
}

void WcpDetector::receive(ThreadId id, const WcpMessage& message) {
  Thread& receiver = thread(id);
  receiver.clocks.join(message.clocks);
  const bool in_section = !receiver.open.empty();
  for (const WcpMessage::Sender& sender : message.senders) {
    if (sender.life.thread != id || sender.life.began != receiver.began) {
      receiver.clocks.wcp.join(in_section ? sender.hb : sender.hb_in_section);
    }
  }
}

// Sections that a thread of the number left open are never closed.
void WcpDetector::restart(ThreadId id) {
  Thread& fresh = thread(id);
  fresh.began = fresh.clocks.must[id];
  free_sections_.insert(free_sections_.end(), fresh.open.begin(), fresh.open.end());
  fresh.open.clear();
  locks_.restart(id);
}

std::uint32_t WcpDetector::open_section(const Event& e, Time acquired) {
  std::uint32_t number;
  if (free_sections_.empty()) {
    number = static_cast<std::uint32_t>(sections_.size());
    sections_.emplace_back();
  } else {
    number = free_sections_.back();
    free_sections_.pop_back();
  }
  Section& section = sections_[number];
  section.lock = e.object;
  section.shared = is_shared(e);
  section.acquired = acquired;
  section.touched_count = 0;
  return number;
}

void WcpDetector::acquire(const Event& e) {
  Thread& own = thread(e.thread);
  if (!locks_.acquire(e)) {
    return;
  }
  if (const Lock* lock = lock_states_.find(e.object)) {
    if (lock->releaser != e.thread) {
      own.clocks.hb.join(pool_[lock->exclusive_hb]);
      own.clocks.wcp.join(lock->exclusive_wcp);
    }
    if (!is_shared(e)) {
      own.clocks.hb.join(lock->shared_hb);
      own.clocks.wcp.join(lock->shared_wcp);
    }
  }
  own.open.push_back(open_section(e, own.clocks.must[e.thread]));
}

void WcpDetector::release(const Event& e) {
  Thread& own = thread(e.thread);
  if (!locks_.release(e)) {
    return;
  }
  const auto it = std::find_if(own.open.rbegin(), own.open.rend(),
                               [&](std::uint32_t number) { return sections_[number].lock == e.object; });
  const std::uint32_t number = *it;
  own.open.erase(std::next(it).base());
  Lock& lock = lock_states_[e.object];
  apply_rule_b(e.thread, sections_[number], lock);
  close_section(e.thread, sections_[number], lock);
  free_sections_.push_back(number);
  advance(e.thread);
  if (stored_ >= forget_at_) [[unlikely]] {
    forget_sections();
  }
}

// Rule (b): an earlier section whose acquire precedes this release is released before it, unless both are shared.
void WcpDetector::apply_rule_b(ThreadId id, const Section& section, Lock& lock) {
  VectorClock& wcp = threads_[raw(id)].clocks.wcp;
  const ThreadLife own = life_of(id);
  lock.exclusive_sections.pass(own, wcp, pool_);
  if (!section.shared && !lock.shared_sections.empty()) {
    // What one queue teaches may let another pass.
    for (bool more = true; more;) {
      more = false;
      for (auto& [sharer, queue] : lock.shared_sections) {
        more = queue.pass(own, wcp, pool_) || more;
      }
      more = lock.exclusive_sections.pass(own, wcp, pool_) || more;
    }
  }
}

void WcpDetector::close_section(ThreadId id, const Section& section, Lock& lock) {
  const WcpClocks& own = threads_[raw(id)].clocks;
  const ThreadLife life = life_of(id);
  const Time now = own.must[id];
  const ClockId said = pool_.add(own.hb);
  for (std::uint32_t i = 0; i < section.touched_count; ++i) {
    const Touched& touched = section.touched[i];
    if (guards_[touched.guard].generation != touched.generation) {
      continue;  // the memory was allocated again meanwhile
    }
    for (unsigned kinds = touched.kinds; kinds != 0; kinds &= kinds - 1) {
      const auto kind = AccessKind(std::countr_zero(kinds));
      if (section.shared) {
        guards_.close_shared(touched.guard, kind, life, now, said);
      } else {
        guards_.close_exclusive(touched.guard, kind, life, now, said);
      }
    }
  }
  if (section.shared) {
    lock.shared_hb.join(own.hb);
    lock.shared_wcp.join(own.wcp);
    if (section.acquired != now) {
      auto it = std::find_if(lock.shared_sections.begin(), lock.shared_sections.end(),
                             [&](const auto& entry) { return entry.first == id; });
      if (it == lock.shared_sections.end()) {
        it = lock.shared_sections.emplace(it, id, SectionQueue());
      }
      push(it->second, {id, section.acquired, now, said});
    }
  } else {
    pool_.hold(said);
    pool_.drop(std::exchange(lock.exclusive_hb, said));
    lock.exclusive_wcp = own.wcp;
    lock.releaser = id;
    lock.shared_hb.clear();  // the section came after them all
    lock.shared_wcp.clear();
    if (section.acquired != now) {
      push(lock.exclusive_sections, {id, section.acquired, now, said});
    }
  }
  pool_.drop(said);
}

void WcpDetector::push(SectionQueue& queue, const SectionQueue::Section& section) {
  pool_.hold(section.said);
  queue.push(section);
  most_stored_ = std::max(most_stored_, ++stored_);
}

// The clocks that can become part of a P are P and H of threads, locks and messages, and what releases said to rule (a).
// M never does.
void WcpDetector::forget_sections() {
  std::vector<SectionQueue*> queues;
  lock_states_.for_each([&](std::uint64_t, Lock& lock) {
    queues.push_back(&lock.exclusive_sections);
    for (auto& [sharer, queue] : lock.shared_sections) {
      queues.push_back(&queue);
    }
  });
  mark_needed(queues);
  stored_ = 0;
  for (SectionQueue* queue : queues) {
    queue->forget(pool_);
    stored_ += queue->size();
  }
  // Again when the work is in proportion to what was pushed meanwhile.
  forget_at_ = trim_at_ == 1 ? 1 : stored_ + std::max({std::uint64_t{trim_at_}, stored_, sweep_work_ / 32});
}

void WcpDetector::mark_needed(const std::vector<SectionQueue*>& queues) {
  NeededSections needed(pool_);
  std::vector<std::uint32_t> held_by_queues(pool_.end());
  for (SectionQueue* queue : queues) {
    queue->for_each([&](SectionQueue::Section& section) {
      needed.add(section);
      ++held_by_queues[raw(section.said)];
    });
  }
  needed.prepare();
  for (const Thread& each : threads_) {
    needed.need(each.clocks.hb);
    needed.need(each.clocks.wcp);
  }
  lock_states_.for_each([&](std::uint64_t, const Lock& lock) {
    needed.need(lock.exclusive_wcp);
    needed.need(lock.shared_hb);
    needed.need(lock.shared_wcp);
  });
  must_order_.for_each_message([&](const WcpMessage& message) {
    needed.need(message.clocks.wcp);
    for (const WcpMessage::Sender& sender : message.senders) {
      needed.need(sender.hb);
      needed.need(sender.hb_in_section);
    }
  });
  pool_.for_each([&](ClockId id, const VectorClock& clock, std::uint32_t holders) {
    if (holders > held_by_queues[raw(id)]) {
      needed.need(clock);
    }
  });
  sweep_work_ = needed.work();
}

// Whether rule (a) teaches anything is decided without branches on the kind of access, which cannot be predicted.
inline void WcpDetector::access_in_section(std::uint32_t number, CellId cell, ThreadId id, AccessKind kind) {
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

// Rule (a): the releases of other threads' sections that conflict with the access, under one of the locks held.
void WcpDetector::apply_rule_a(std::uint32_t number, GuardId guard_id, ThreadId id, AccessKind kind) {
  const Guard& guard = guards_[guard_id];
  VectorClock& wcp = threads_[raw(id)].clocks.wcp;
  const ThreadLife own = life_of(id);
  for (unsigned kinds = guard.kinds & conflicting_kinds(kind); kinds != 0; kinds &= kinds - 1) {
    const auto earlier = AccessKind(std::countr_zero(kinds));
    learn(wcp, own, guard.latest_of_others(earlier, own));
    if (!sections_[number].shared) {
      guards_.for_each_shared(guard_id, earlier, [&](const ClosedSection& section) { learn(wcp, own, section); });
    }
  }
}

// Once for each guard, without branches on whether it is the first time.
inline void WcpDetector::note_access(std::uint32_t number, GuardId guard_id, AccessKind kind) {
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

void WcpDetector::compare(CellId id, EpochSummary& cell, AccessView access) {
  const WcpClocks& own = threads_[raw(access.event.thread)].clocks;
  const Knowledge known(own.wcp, own.must);
  const AccessKind kind = access_kind(access.event.op);
  const bool all_known = cell.all_known(kind, known);
  if (!all_known) {
    find_races(id, access, known);
  }
  cell.add(kind, Epoch(access.event.thread, access.time), known, all_known);
}

// The new cell has the same sections behind it, also those that are still open.
void WcpDetector::on_split_cell(CellId from, CellId to) {
  guards_.copy_cell(from, to, [&](GuardId original, GuardId copy) {
    for (const Thread& each : threads_) {
      for (const std::uint32_t number : each.open) {
        Section& section = sections_[number];
        section.touched.resize(section.touched_count);
        for (std::size_t i = 0; i < section.touched_count; ++i) {
          const Touched each_touched = section.touched[i];
          if (each_touched.guard == original && each_touched.generation == guards_[original].generation) {
            section.touched.push_back({copy, guards_[copy].generation, each_touched.kinds});
          }
        }
        section.touched_count = static_cast<std::uint32_t>(section.touched.size());
      }
    }
  });
}

void WcpDetector::find_races(CellId cell, const AccessRecord& access, const Knowledge& known) {
  history_.log().walk(cell, [&](const AccessRecord& earlier) {
    if (conflict(earlier.event, access.event) && !known.knows(Epoch(earlier.event.thread, earlier.time))) {
      races_.add(AccessRecord(earlier), access);
    }
  });
}

std::vector<std::pair<std::string, std::string>> WcpDetector::stats() const {
  auto rows = history_.stats();
  // The paper counts the entries of both queues, Acq and Rel.
  const double share = events_ == 0 ? 0 : 100.0 * 2 * static_cast<double>(most_stored_) / static_cast<double>(events_);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%%", share);
  rows.emplace_back("largest sum of queue lengths, of events", text);
  rows.emplace_back("sections kept at most", std::to_string(most_stored_));
  rows.emplace_back("sections kept at the end", std::to_string(stored_));
  rows.emplace_back("lock and variable pairs", std::to_string(guards_.size()));
  return rows;
}

}  // namespace

std::unique_ptr<Detector> make_wcp_detector(std::size_t trim_at) { return std::make_unique<WcpDetector>(trim_at); }

}  // namespace sooth
