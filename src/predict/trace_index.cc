#include "predict/trace_index.h"

#include <algorithm>
#include <tuple>

#include "base/flat_map.h"
#include "order/held_locks.h"
#include "order/must_order.h"
#include "predict/variable_map.h"
#include "predict/window.h"
#include "trace/check/value_bits.h"

namespace sooth {
namespace {

// Events that a thread learns of: of each thread the latest, which implies the earlier ones.
class Senders {
 public:
  struct Sender {
    ThreadId thread;
    EventIndex event;
  };

  bool empty() const { return senders_.empty(); }
  void clear() { senders_.clear(); }
  void join(const Senders& other) {
    for (const Sender& sender : other.senders_) {
      add(sender);
    }
  }
  void add(Sender sender) {
    for (Sender& known : senders_) {
      if (known.thread == sender.thread) {
        known.event = std::max(known.event, sender.event);
        return;
      }
    }
    senders_.push_back(sender);
  }
  std::span<const Sender> all() const { return senders_; }

 private:
  std::vector<Sender> senders_;
};

}  // namespace

class TraceIndexBuilder {
 public:
  TraceIndexBuilder(TraceIndex& index, const TraceView& trace, std::span<const ExtraOrder> extra, bool atomics)
      : index_(index),
        atomics_(atomics),
        events_(trace.events),
        values_(trace.values),
        branches_(trace.branches),
        extra_(extra),
        must_order_(*this),
        variables_(events_),
        cells_(variables_.cell_count()) {}

  void run() {
    const std::size_t n = events_.size();
    index_.position_.resize(n);
    index_.variable_.assign(n, TraceIndex::kNoVariable);
    index_.detail_.assign(n, kNoEvent);
    index_.predecessors_at_.assign(n, 0);
    index_.pool_.push_back(0);  // so that 0 is no list
    for (EventIndex e = 0; e < n; ++e) {
      add(e);
    }
    lay_out_threads();
    lay_out_branches();
    group_values();
    group_sections();
  }

  // Host of MustOrder.
  const Senders& current(ThreadId thread) {
    Thread& t = of(thread);
    if (t.length == 0) {
      return t.received;  // its fork stands for a thread without events
    }
    latest_.clear();
    latest_.add({thread, t.last});
    return latest_;
  }
  void sent(ThreadId) {}
  void receive(ThreadId thread, const Senders& senders) { of(thread).received.join(senders); }

 private:
  struct Thread {
    std::uint32_t length = 0;
    EventIndex last = kNoEvent;
    Senders received;  // since its latest event
    Senders known;     // all it ever received
    std::vector<SectionIndex> sections;
    std::vector<SectionIndex> open;  // positions in `sections`, ascending
  };
  struct Cell {
    VariableIndex variable = TraceIndex::kNoVariable;  // none: not accessed in this generation
    EventIndex last_write = kNoEvent;
  };

  Thread& of(ThreadId thread) {
    if (raw(thread) >= threads_.size()) {
      threads_.resize(raw(thread) + 1);
    }
    return threads_[raw(thread)];
  }

  void add(EventIndex id) {
    const Event& e = events_[id];
    const bool is_semaphore = e.op == Op::kSemPost || e.op == Op::kSemWait;
    const bool is_about_atomics = is_atomic(e.op) || e.op == Op::kFence;
    const bool orders = !(is_semaphore && index_.hard_) && (atomics_ || !is_about_atomics);
    if (orders) {
      must_order_.incoming(e);
    }
    Thread& thread = of(e.thread);
    for (const EventIndex post : index_.semaphores_.needs(id)) {
      thread.received.add({events_[post].thread, post});
    }
    for (; next_extra_ < extra_.size() && extra_[next_extra_].to == id; ++next_extra_) {
      const EventIndex from = extra_[next_extra_].from;
      thread.received.add({events_[from].thread, from});
    }
    if (const ConditionIndex::Wait* wait = was_woken(e) ? index_.conditions_.wait(id) : nullptr;
        wait != nullptr && wait->has_only_one) {
      thread.received.add({events_[wait->took].thread, wait->took});
    }
    note_predecessors(id, thread);
    index_.position_[id] = thread.length++;
    thread.last = id;
    if (is_access(e.op) || e.op == Op::kFree) {
      access(id);
    } else if (e.op == Op::kAlloc && e.size != 0) {
      variables_.for_each_cell(e.object, e.size, [this](std::uint32_t cell) { cells_[cell] = Cell{}; });
    } else if (e.op == Op::kAcquire) {
      acquire(id, thread);
    } else if (e.op == Op::kRelease) {
      release(id, thread);
    } else if (e.op == Op::kAcquireFailed) {
      find_taken(id);
    }
    if (orders) {
      must_order_.outgoing(e);
    }
  }

  void note_predecessors(EventIndex id, Thread& thread) {
    if (thread.received.empty()) {
      return;
    }
    const std::size_t at = index_.pool_.size();
    index_.pool_.push_back(0);
    for (const Senders::Sender& sender : thread.received.all()) {
      const auto known = std::find_if(thread.known.all().begin(), thread.known.all().end(),
                                      [&](const Senders::Sender& k) { return k.thread == sender.thread; });
      const bool news = known == thread.known.all().end() || known->event < sender.event;
      if (news && sender.thread != events_[id].thread) {
        index_.pool_.push_back(sender.event);
        ++index_.pool_[at];
      }
    }
    thread.known.join(thread.received);
    thread.received.clear();
    if (index_.pool_[at] == 0) {
      index_.pool_.pop_back();
    } else {
      index_.predecessors_at_[id] = static_cast<std::uint32_t>(at);
    }
  }

  void access(EventIndex id) {
    const Event& e = events_[id];
    touched_.clear();
    if (e.size == 0) {
      return;
    }
    variables_.for_each_cell(e.object, e.size, [this](std::uint32_t cell) { touched_.push_back(cell); });
    for (const std::uint32_t cell : touched_) {
      if (cells_[cell].variable == TraceIndex::kNoVariable) {
        cells_[cell].variable = variable_count_++;
      }
    }
    if (touched_.size() == 1) {
      index_.variable_[id] = cells_[touched_.front()].variable;
      if (is_read(e.op)) {
        index_.detail_[id] = cells_[touched_.front()].last_write;
      }
    } else if (!touched_.empty()) {
      index_.variable_[id] = TraceIndex::kListBit | static_cast<std::uint32_t>(index_.pool_.size());
      index_.pool_.push_back(static_cast<std::uint32_t>(touched_.size()));
      for (const std::uint32_t cell : touched_) {
        index_.pool_.push_back(cells_[cell].variable);
      }
      for (std::size_t i = 0; i < touched_.size() && is_read(e.op); ++i) {
        index_.pool_.push_back(cells_[touched_[i]].last_write);
      }
    }
    if (!values_.empty() && values_[id].size != 0) {
      note_values(id);
    }
    for (std::size_t i = 0; i < touched_.size() && is_write(e.op); ++i) {
      cells_[touched_[i]].last_write = id;
    }
  }

  // Of the variables that the access touches, what it found or left in them. What an rmw leaves is not recorded, and a
  // free leaves nothing.
  void note_values(EventIndex id) {
    const Event& e = events_[id];
    const bool stores = e.op == Op::kWrite || e.op == Op::kAtomicStore;
    if (!stores && !is_read(e.op)) {
      return;
    }
    variables_.for_each_cell(e.object, e.size, [&](std::uint32_t cell, std::uint64_t first, std::uint64_t bytes) {
      const std::uint64_t offset = first - e.object;
      if (offset + bytes <= values_[id].size) {
        const VariableIndex variable = cells_[cell].variable;
        // A variable that is known by name only has one byte, which stands for up to 8.
        const bool named = values_[id].size > e.size && values_[id].high == 0;
        const std::uint64_t bits =
            named ? values_[id].low
                  : value_bits(values_[id], static_cast<unsigned>(offset), static_cast<unsigned>(bytes));
        if (stores) {
          stored_.push_back({variable, id, bits});
        } else {
          found_.push_back({variable, id, bits});
          saw_.push_back(cells_[cell].last_write);
        }
      }
    });
  }

  void acquire(EventIndex id, Thread& thread) {
    const Event& e = events_[id];
    if (!held_.acquire(e)) {
      return;
    }
    std::uint32_t& lock = locks_[e.object];  // number + 1
    lock = lock == 0 ? static_cast<std::uint32_t>(locks_.size()) : lock;
    const SectionIndex number = static_cast<SectionIndex>(thread.sections.size());
    thread.open.push_back(number);
    thread.sections.push_back(static_cast<SectionIndex>(index_.sections_.size()));
    index_.detail_[id] = thread.sections.back();
    index_.sections_.push_back({id, kNoEvent, lock - 1, is_shared(e), thread.open.front()});
    open_[lock - 1].push_back(thread.sections.back());
  }

  void find_taken(EventIndex id) {
    const Event& e = events_[id];
    const std::uint32_t* lock = locks_.find(e.object);
    if (lock == nullptr) {
      return;
    }
    SectionIndex first = kNoSection;
    for (const SectionIndex s : open_[*lock - 1]) {
      const bool excludes = !(index_.sections_[s].shared && is_shared(e));
      if (excludes && events_[index_.sections_[s].acquire].thread == e.thread) {
        return;
      }
      first = excludes && first == kNoSection ? s : first;
    }
    index_.detail_[id] = first;
    if (first != kNoSection) {
      index_.failed_.push_back(id);
      index_.failed_on_[*lock - 1];
    }
  }

  void group_sections() {
    for (SectionIndex s = 0; s < index_.sections_.size() && !index_.failed_.empty(); ++s) {
      if (std::vector<SectionIndex>* all = index_.failed_on_.find(index_.sections_[s].lock)) {
        all->push_back(s);
      }
    }
  }

  void release(EventIndex id, Thread& thread) {
    if (!held_.release(events_[id])) {
      return;
    }
    const std::uint32_t lock = locks_[events_[id].object] - 1;
    const auto open = std::find_if(thread.open.begin(), thread.open.end(), [&](SectionIndex number) {
      return index_.sections_[thread.sections[number]].lock == lock;
    });
    index_.detail_[id] = thread.sections[*open];
    index_.sections_[thread.sections[*open]].release = id;
    std::erase(open_[lock], thread.sections[*open]);
    thread.open.erase(open);
  }

  void lay_out_threads() {
    index_.thread_begin_.push_back(0);
    index_.section_begin_.push_back(0);
    for (const Thread& thread : threads_) {
      index_.thread_begin_.push_back(index_.thread_begin_.back() + thread.length);
      std::vector<SectionIndex>& sections = index_.sections_by_thread_;
      sections.insert(sections.end(), thread.sections.begin(), thread.sections.end());
      index_.section_begin_.push_back(static_cast<std::uint32_t>(sections.size()));
    }
    index_.by_thread_.resize(events_.size());
    for (EventIndex e = 0; e < events_.size(); ++e) {
      index_.by_thread_[index_.thread_begin_[raw(events_[e].thread)] + index_.position_[e]] = e;
    }
    index_.pool_.shrink_to_fit();
    index_.sections_.shrink_to_fit();
  }

  void lay_out_branches() {
    for (const Branch& branch : branches_) {
      const std::uint32_t thread = raw(branch.thread);
      if (thread >= index_.thread_count()) {
        continue;  // it never did anything
      }
      index_.branches_.resize(index_.thread_count());
      const std::span<const EventIndex> events = index_.events_of(thread);
      const auto behind = std::lower_bound(events.begin(), events.end(), raw(branch.before));
      const auto position = static_cast<std::uint32_t>(behind - events.begin());
      std::vector<std::uint32_t>& own = index_.branches_[thread];
      if (behind != events.end() && (own.empty() || own.back() != position)) {
        own.push_back(position);
      }
    }
  }

  // Reads that saw no write tell what was there at first, if they agree: as if the write kNoEvent had stored it.
  void note_initial_values() {
    struct Initial {
      std::uint64_t bits = 0;
      enum class State : std::uint8_t { kUnknown, kKnown, kInDoubt } state = State::kUnknown;
    };
    FlatMap<Initial> first;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (saw_[i] == kNoEvent) {
        Initial& initial = first[found_[i].variable];
        const bool differs = initial.state != Initial::State::kUnknown && initial.bits != found_[i].bits;
        initial = {found_[i].bits, differs || initial.state == Initial::State::kInDoubt ? Initial::State::kInDoubt
                                                                                        : Initial::State::kKnown};
      }
    }
    first.for_each([this](std::uint64_t variable, const Initial& initial) {
      if (initial.state == Initial::State::kKnown) {
        stored_.push_back({static_cast<VariableIndex>(variable), kNoEvent, initial.bits});
      }
    });
  }

  // For each read which other writes have stored what it found.
  void group_values() {
    note_initial_values();
    std::sort(stored_.begin(), stored_.end(), [](const Stored& a, const Stored& b) {
      return std::tie(a.variable, a.bits, a.event) < std::tie(b.variable, b.bits, b.event);
    });
    for (const Stored& stored : stored_) {
      index_.same_value_.push_back(stored.event);
    }
    const auto less = [](const Stored& a, const Stored& b) {
      return std::tie(a.variable, a.bits) < std::tie(b.variable, b.bits);
    };
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const auto [begin, end] = std::equal_range(stored_.begin(), stored_.end(), found_[i], less);
      const EventIndex read = found_[i].event;
      const bool other = std::any_of(begin, end, [&](const Stored& stored) {
        const bool later_in_thread =
            stored.event != kNoEvent && events_[stored.event].thread == events_[read].thread && stored.event > read;
        return stored.event != saw_[i] && !later_in_thread;
      });
      if (other) {
        index_.alternatives_[std::uint64_t{read} << 32 | found_[i].variable] = {
            static_cast<std::uint32_t>(begin - stored_.begin()), static_cast<std::uint32_t>(end - begin)};
        index_.writes_[found_[i].variable];
      }
    }
    for (EventIndex e = 0; e < events_.size() && !index_.writes_.empty(); ++e) {
      if (is_write(events_[e].op)) {
        for (const VariableIndex v : index_.variables(e)) {
          if (std::vector<EventIndex>* writes = index_.writes_.find(v)) {
            writes->push_back(e);
          }
        }
      }
    }
  }

  struct Stored {
    VariableIndex variable;
    EventIndex event;
    std::uint64_t bits;
  };

  TraceIndex& index_;
  const bool atomics_;  // order
  const std::span<const Event> events_;
  const std::span<const Value> values_;
  const std::span<const Branch> branches_;
  const std::span<const ExtraOrder> extra_;
  std::size_t next_extra_ = 0;
  MustOrder<TraceIndexBuilder, Senders> must_order_;
  const VariableMap variables_;
  std::vector<Cell> cells_;
  VariableIndex variable_count_ = 0;
  std::vector<Thread> threads_;
  HeldLocks held_;
  FlatMap<std::uint32_t> locks_;
  FlatMap<std::vector<SectionIndex>> open_;  // by lock, in the order of their acquires
  Senders latest_;                           // what current() returns
  std::vector<std::uint32_t> touched_;       // cells of the access at hand
  std::vector<Stored> stored_, found_;       // recorded values, by writes and by reads
  std::vector<EventIndex> saw_;              // parallel to found_
};

Window::Window(const TraceIndex& index, EventIndex first, EventIndex end) : begin(first) {
  for (std::uint32_t t = 0; t < index.thread_count(); ++t) {
    const std::span<const EventIndex> events = index.events_of(t);
    const auto count = [&](EventIndex e) {
      return static_cast<std::uint32_t>(std::lower_bound(events.begin(), events.end(), e) - events.begin());
    };
    floor.push_back(count(first));
    limit.push_back(count(end));
  }
}

TraceIndex::TraceIndex(const TraceView& trace, std::span<const ExtraOrder> extra, KeptOrder kept)
    : trace_(trace),
      hard_(kept == KeptOrder::kHard && trace.reaches.empty()),
      conditions_(trace.events),
      semaphores_(trace.events, hard_) {
  TraceIndexBuilder(*this, trace, extra, kept == KeptOrder::kMust || !trace.reaches.empty()).run();
}

EventIndex TraceIndex::last_write(VariableIndex v, EventIndex end) const {
  const std::vector<EventIndex>* writes = writes_.find(v);
  if (writes == nullptr) {
    return kNoEvent;
  }
  const auto next = std::lower_bound(writes->begin(), writes->end(), end);
  return next == writes->begin() ? kNoEvent : *std::prev(next);
}

std::uint32_t TraceIndex::branch_limit(std::uint32_t thread, std::uint32_t reach) const {
  const std::span<const std::uint32_t> behind = branches_of(thread);
  const auto next = std::upper_bound(behind.begin(), behind.end(), reach);
  return next == behind.begin() ? 0 : *std::prev(next);
}

std::vector<SectionIndex> TraceIndex::held_after(std::uint32_t thread, std::uint32_t length) const {
  std::vector<SectionIndex> held;
  const std::span<const SectionIndex> all = sections_of(thread);
  const auto begun = [&](SectionIndex s) { return position_[sections_[s].acquire] < length; };
  const auto end = std::partition_point(all.begin(), all.end(), begun);
  if (end == all.begin()) {
    return held;
  }
  for (auto it = all.begin() + sections_[*std::prev(end)].oldest_open; it != end; ++it) {
    const EventIndex release = sections_[*it].release;
    if (release == kNoEvent || position_[release] >= length) {
      held.push_back(*it);
    }
  }
  return held;
}

std::size_t TraceIndex::memory() const {
  const auto bytes = [](const auto& column) { return column.capacity() * sizeof(column[0]); };
  return bytes(thread_begin_) + bytes(by_thread_) + bytes(position_) + bytes(variable_) + bytes(detail_) +
         bytes(predecessors_at_) + bytes(pool_) + bytes(sections_) + bytes(section_begin_) +
         bytes(sections_by_thread_) + bytes(same_value_) + alternatives_.memory();
}

}  // namespace sooth
