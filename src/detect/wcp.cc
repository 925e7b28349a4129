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
#include "detect/section_guards.h"
#include "detect/section_queue.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/role.h"
#include "order/vector_clock.h"

namespace sooth {
namespace {

// The three clocks of a thread. Own components: the local time in `hb` and `must`; in `wcp` only what really precedes.
struct Clocks {
  VectorClock hb;    // H: happens-before
  VectorClock wcp;   // P: predecessors by `<<`, rules (a) to (c)
  VectorClock must;  // M: must-order

  void join(const Clocks& other) {
    hb.join(other.hb);
    wcp.join(other.wcp);
    must.join(other.must);
  }
};

// What travels along must-order edges. An edge that starts or ends inside a section is `<<`, but an edge from a thread
// to itself never is, so the senders are kept apart as far as that matters.
struct Message {
  struct Sender {
    ThreadId thread{};
    VectorClock hb;             // what it knew
    VectorClock hb_in_section;  // ... when it last sent while holding a lock
  };

  Clocks clocks;
  std::vector<Sender> senders;

  bool empty() const { return senders.empty(); }
  void clear() { *this = {}; }
  void join(const Message& other) {
    clocks.join(other.clocks);
    for (const Sender& sender : other.senders) {
      const auto same = [&](const Sender& s) { return s.thread == sender.thread; };
      const auto it = std::find_if(senders.begin(), senders.end(), same);
      if (it == senders.end()) {
        senders.push_back(sender);
      } else {
        it->hb.join(sender.hb);
        it->hb_in_section.join(sender.hb_in_section);
      }
    }
  }
};

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
      : trim_at_(trim_at), guards_(pool_), history_(*this, AccessLog::Keys::kPlain), must_order_(*this) {}

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
    const Clocks& own = threads_[raw(access.event.thread)].clocks;
    const Epoch now(access.event.thread, access.time);
    if (!cell.add_if_known(access_kind(access.event.op), now, Knowledge(own.wcp, own.must))) {
      compare(id, cell, access);
    }
  }
  void on_split_cell(CellId from, CellId to);
  void on_drop_cell(CellId cell) { guards_.drop_cell(cell); }

  // MustOrder's host.
  const Message& current(ThreadId id) {
    const Thread& sender = thread(id);
    const bool in_section = !sender.open.empty();
    message_ = {sender.clocks, {{id, sender.clocks.hb, in_section ? sender.clocks.hb : VectorClock()}}};
    return message_;
  }
  void sent(ThreadId id) { advance(id); }
  void receive(ThreadId id, const Message& message);

 private:
  struct Thread {
    Clocks clocks;
    std::vector<std::uint32_t> open;  // its open sections, outermost first
    bool started = false;
    bool finished = false;
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
    std::size_t trim_at = 0;  // length at which the queues are looked through next
  };

  Thread& thread(ThreadId id) {
    if (raw(id) >= threads_.size()) {
      threads_.resize(raw(id) + 1);
    }
    Thread& result = threads_[raw(id)];
    if (!result.started) [[unlikely]] {
      start(id, result);
    }
    return result;
  }
  void start(ThreadId id, Thread& fresh) {
    fresh.started = true;
    fresh.clocks.hb.set(id, 1);
    fresh.clocks.must.set(id, 1);
    fresh.clocks.wcp.set(id, 0);  // not empty, for Knowledge
    live_.push_back(id);
    queue_length_ += stored_;
  }
  void finish_thread(ThreadId id);
  void advance(ThreadId id) {
    Clocks& own = threads_[raw(id)].clocks;
    const Time next = own.must[id] + 1;
    own.hb.set(id, next);
    own.must.set(id, next);
  }

  void acquire(const Event& e);
  void release(const Event& e);
  void apply_rule_b(ThreadId id, const Section& section, Lock& lock);
  void close_section(ThreadId id, const Section& section, Lock& lock);
  void push(SectionQueue& queue, const SectionQueue::Section& section, std::size_t& trim_at);
  std::uint32_t open_section(const Event& e, Time acquired);
  void learn(VectorClock& wcp, ThreadId id, const ClosedSection& section) {
    if (section.released != 0 && section.thread != id && !wcp.knows(Epoch(section.thread, section.released))) {
      wcp.join(pool_[section.said]);
    }
  }
  void access_in_section(std::uint32_t number, CellId cell, ThreadId id, AccessKind kind);
  void apply_rule_a(std::uint32_t number, GuardId guard, ThreadId id, AccessKind kind);
  void note_access(std::uint32_t number, GuardId guard, AccessKind kind);
  void compare(CellId id, EpochSummary& cell, AccessView access);
  void find_races(CellId cell, const AccessRecord& access, const Knowledge& known);

  const std::size_t trim_at_;
  ClockPool pool_;
  SectionGuards guards_;
  std::vector<Thread> threads_;
  std::vector<ThreadId> live_;
  LockSets locks_;
  FlatMap<Lock> lock_states_;
  std::vector<Section> sections_{1};  // by number; 0 is none
  std::vector<std::uint32_t> free_sections_;
  AccessHistory<WcpDetector, EpochSummary> history_;
  MustOrder<WcpDetector, Message> must_order_;
  Message message_;
  PairTable races_;

  std::uint64_t events_ = 0;
  std::uint64_t stored_ = 0;        // sections in all queues
  std::uint64_t queue_length_ = 0;  // for all threads together: sections of others that a thread has not passed
  std::uint64_t longest_queue_ = 0;
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
      must_order_.outgoing(e);
      return e.op == Op::kJoin ? finish_thread(ThreadId(e.object)) : void();
    case Role::kNone: return e.op == Op::kEnd ? finish_thread(e.thread) : void();
  }
}

void WcpDetector::receive(ThreadId id, const Message& message) {
  Thread& receiver = thread(id);
  receiver.clocks.join(message.clocks);
  const bool in_section = !receiver.open.empty();
  for (const Message::Sender& sender : message.senders) {
    if (sender.thread != id) {
      receiver.clocks.wcp.join(in_section ? sender.hb : sender.hb_in_section);
    }
  }
}

void WcpDetector::finish_thread(ThreadId id) {
  Thread& done = thread(id);
  if (std::exchange(done.finished, true)) {
    return;
  }
  std::erase(live_, id);
  lock_states_.for_each([&](std::uint64_t, Lock& lock) {
    queue_length_ -= lock.exclusive_sections.waiting_for(id);
    for (auto& [sharer, queue] : lock.shared_sections) {
      queue_length_ -= queue.waiting_for(id);
    }
  });
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
}

// Rule (b): an earlier section whose acquire precedes this release is released before it, unless both are shared.
void WcpDetector::apply_rule_b(ThreadId id, const Section& section, Lock& lock) {
  VectorClock& wcp = threads_[raw(id)].clocks.wcp;
  std::uint64_t passed = lock.exclusive_sections.pass(id, wcp, pool_);
  if (!section.shared && !lock.shared_sections.empty()) {
    // What one queue teaches may let another pass.
    for (std::uint64_t more = 1; more != 0;) {
      more = 0;
      for (auto& [sharer, queue] : lock.shared_sections) {
        more += sharer != id ? queue.pass(id, wcp, pool_) : 0;
      }
      more += lock.exclusive_sections.pass(id, wcp, pool_);
      passed += more;
    }
  }
  queue_length_ -= passed;
}

void WcpDetector::close_section(ThreadId id, const Section& section, Lock& lock) {
  const Clocks& own = threads_[raw(id)].clocks;
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
        guards_.close_shared(touched.guard, kind, id, now, said);
      } else {
        guards_.close_exclusive(touched.guard, kind, id, now, said);
      }
    }
  }
  if (section.shared) {
    lock.shared_hb.join(own.hb);
    lock.shared_wcp.join(own.wcp);
    auto it = std::find_if(lock.shared_sections.begin(), lock.shared_sections.end(),
                           [&](const auto& entry) { return entry.first == id; });
    if (it == lock.shared_sections.end()) {
      it = lock.shared_sections.emplace(it, id, SectionQueue());
    }
    push(it->second, {id, section.acquired, now, said}, lock.trim_at);
  } else {
    pool_.hold(said);
    pool_.drop(std::exchange(lock.exclusive_hb, said));
    lock.exclusive_wcp = own.wcp;
    lock.releaser = id;
    lock.shared_hb.clear();  // the section came after them all
    lock.shared_wcp.clear();
    push(lock.exclusive_sections, {id, section.acquired, now, said}, lock.trim_at);
  }
}

void WcpDetector::push(SectionQueue& queue, const SectionQueue::Section& section, std::size_t& trim_at) {
  queue.push(section);
  ++stored_;
  queue_length_ += live_.size() - 1;
  longest_queue_ = std::max(longest_queue_, queue_length_);
  if (queue.size() >= std::max(trim_at, trim_at_)) {
    const std::size_t before = queue.size();
    queue.trim(live_, pool_);
    stored_ -= before - queue.size();
    trim_at = 2 * queue.size();
  }
}

// Whether rule (a) teaches anything is decided without branches on the kind of access, which cannot be predicted.
inline void WcpDetector::access_in_section(std::uint32_t number, CellId cell, ThreadId id, AccessKind kind) {
  const GuardId guard_id = guards_.find(sections_[number].lock, cell);
  const Guard& guard = guards_[guard_id];
  const ClockView wcp(threads_[raw(id)].clocks.wcp);
  const ClosedSection& read = guard.latest_of_others(AccessKind::kRead, id);
  const ClosedSection& written = guard.latest_of_others(AccessKind::kWrite, id);
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
  for (unsigned kinds = guard.kinds & conflicting_kinds(kind); kinds != 0; kinds &= kinds - 1) {
    const auto earlier = AccessKind(std::countr_zero(kinds));
    learn(wcp, id, guard.latest_of_others(earlier, id));
    if (!sections_[number].shared) {
      guards_.for_each_shared(guard_id, earlier, [&](const ClosedSection& section) { learn(wcp, id, section); });
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
  const Clocks& own = threads_[raw(access.event.thread)].clocks;
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
  const double share =
      events_ == 0 ? 0 : 100.0 * 2 * static_cast<double>(longest_queue_) / static_cast<double>(events_);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%%", share);
  rows.emplace_back("largest sum of queue lengths, of events", text);
  rows.emplace_back("sections kept at the end", std::to_string(stored_));
  rows.emplace_back("lock and variable pairs", std::to_string(guards_.size()));
  return rows;
}

}  // namespace

std::unique_ptr<Detector> make_wcp_detector(std::size_t trim_at) { return std::make_unique<WcpDetector>(trim_at); }

}  // namespace sooth
