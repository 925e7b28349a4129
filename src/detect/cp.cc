#include "detect/cp.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "detect/access_history.h"
#include "detect/cp_order.h"
#include "order/lock_set.h"
#include "order/must_order.h"

namespace sooth {
namespace {

// What travels along a must-order edge: the events that it starts at. Of each thread the latest one decides, and the
// latest one after which the thread holds a lock, because rule (d) applies to it.
class Sources {
 public:
  struct Source {
    ThreadId thread{};
    std::uint64_t latest = 0;   // event id + 1
    std::uint64_t holding = 0;  // event id + 1; 0 for none
  };

  void set(const Source& source) { sources_.assign(1, source); }
  void join(const Sources& other) {
    for (const Source& theirs : other.sources_) {
      const auto mine =
          std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) { return s.thread == theirs.thread; });
      if (mine == sources_.end()) {
        sources_.push_back(theirs);
      } else {
        mine->latest = std::max(mine->latest, theirs.latest);
        mine->holding = std::max(mine->holding, theirs.holding);
      }
    }
  }
  bool empty() const { return sources_.empty(); }
  void clear() { sources_.clear(); }
  const std::vector<Source>& all() const { return sources_; }

 private:
  std::vector<Source> sources_;
};

// Calls visit(earlier, access) for every access and the latest conflicting one of each thread, site, kind and set of
// locks before it.
template <typename Visit>
class ConflictWalk {
 public:
  explicit ConflictWalk(Visit visit) : visit_(visit), history_(*this, AccessLog::Keys::kByLocks) {}

  void step(const AccessRecord& record) {
    if (is_access(record.event.op)) {
      history_.access(record);
    } else if (record.event.op == Op::kFree) {
      history_.free(record);
    } else if (record.event.op == Op::kAlloc) {
      history_.allocate(record.event);
    }
  }

  // AccessHistory's host.
  struct Nothing {};
  void touch(CellId cell, Nothing&, const AccessRecord& access) {
    history_.log().walk(cell, [&](const AccessRecord& earlier) {
      if (conflict(earlier.event, access.event)) {
        visit_(earlier, access);
      }
    });
  }

 private:
  Visit visit_;
  AccessHistory<ConflictWalk, Nothing> history_;
};

class CpDetector final : public Detector {
 public:
  explicit CpDetector(std::uint64_t window)
      : window_(std::min<std::uint64_t>(window, std::numeric_limits<CpOrder::Index>::max() / 2)), must_order_(*this) {}

  Guarantee guarantee() const override { return Guarantee::kSoundFirstOnly; }
  const PairTable& races() const override { return races_; }
  void tell_apart(VariableClasses* variables) override { races_.tell_apart(variables); }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    return {{"windows", std::to_string(windows_)}, {"sweeps", std::to_string(sweeps_)}};
  }
  std::vector<std::string> notes() const override {
    if (windows_ <= 1) {
      return {};
    }
    return {"cp looked at " + std::to_string(windows_) + " windows of " + std::to_string(window_) +
            " events; pairs across windows were not compared (--window N for larger ones)."};
  }

  void consume(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      events_.push_back({batch.events[i], batch.id(i), 0, kNoLocks, batch.stack(i)});
      if (events_.size() >= window_) {
        analyze_window();
      }
    }
  }
  void finish() override {
    if (!events_.empty()) {
      analyze_window();
    }
  }

  // MustOrder's host. It outlives the windows: which post a wait takes depends on all that came before.
  const Sources& current(ThreadId thread) {
    Thread& state = thread_of(thread);
    if (state.latest == 0) {
      // Its fork is all there is of it. It stands for the thread, also when the thread that forked it joins it.
      state.now.clear();
      for (Sources::Source source : state.pending.all()) {
        source.thread = thread;
        state.now.set(source);
      }
      return state.now;
    }
    state.now.set({thread, state.latest, locks_.of(thread) != kNoLocks ? state.latest : 0});
    return state.now;
  }
  void sent(ThreadId) {}
  void receive(ThreadId thread, const Sources& message) {
    if (thread == running_) {
      add_edges(message);
    } else {
      thread_of(thread).pending.join(message);  // of a fork: ends at the first event of the child
    }
  }

 private:
  struct Thread {
    std::uint64_t latest = 0;  // event id + 1
    Sources now;
    Sources pending;
  };

  Thread& thread_of(ThreadId thread) {
    if (raw(thread) >= threads_.size()) {
      threads_.resize(raw(thread) + 1);
    }
    return threads_[raw(thread)];
  }

  CpOrder::Index index_of(EventId id) const { return static_cast<CpOrder::Index>(raw(id) - raw(events_.front().id)); }

  void add_edges(const Sources& message) {
    const bool held_before = locks_.of(running_) != kNoLocks;
    for (const Sources::Source& source : message.all()) {
      if (source.thread == running_) {
        continue;
      }
      add_edge(source.latest, held_before || source.holding == source.latest);
      if (source.holding != source.latest) {
        add_edge(source.holding, true);
      }
    }
  }
  void add_edge(std::uint64_t id_plus_one, bool causal) {
    if (id_plus_one > raw(events_.front().id)) {
      order_.add_must_edge(index_of(EventId{id_plus_one - 1}), causal);
    }
  }

  void analyze_window() {
    order_ = CpOrder();
    ConflictWalk protected_pairs([this](const AccessRecord& a, const AccessRecord& b) { apply_rule_a(a, b); });
    for (AccessRecord& record : events_) {
      order_event(record);
      protected_pairs.step(record);
    }
    order_.solve();
    ConflictWalk pairs([this](const AccessRecord& a, const AccessRecord& b) {
      if (order_.unordered(index_of(a.id), index_of(b.id))) {
        races_.add(a, b);
      }
    });
    for (const AccessRecord& record : events_) {
      pairs.step(record);
    }
    ++windows_;
    sweeps_ += order_.sweeps();
    events_.clear();
  }

  // Puts the event with its edges and sections into the order, and the locks it holds into the record.
  void order_event(AccessRecord& record) {
    const Event& e = record.event;
    running_ = e.thread;
    const bool first_in_window = order_.is_new(e.thread);
    order_.add_event(e.thread);
    if (first_in_window) {
      for (const LockMode& held : locks_.table().locks(locks_.of(e.thread))) {
        order_.open_section(held.lock, !held.shared);
      }
    }
    Thread& thread = thread_of(e.thread);
    thread.latest = raw(record.id) + 1;
    add_edges(thread.pending);
    thread.pending.clear();
    must_order_.incoming(e);
    if (e.op == Op::kAcquire && locks_.acquire(e)) {
      order_.open_section(e.object, !is_shared(e));
    } else if (e.op == Op::kRelease && locks_.release(e)) {
      order_.close_section(e.object);
    }
    record.locks = locks_.of(e.thread);
    must_order_.outgoing(e);
  }

  void apply_rule_a(const AccessRecord& first, const AccessRecord& second) {
    if (!locks_.table().protects(first.locks, second.locks)) {
      return;
    }
    for (const LockMode& theirs : locks_.table().locks(first.locks)) {
      for (const LockMode& mine : locks_.table().locks(second.locks)) {
        if (theirs.lock == mine.lock && !(theirs.shared && mine.shared)) {
          order_.add_conflict(mine.lock, index_of(first.id), index_of(second.id));
        }
      }
    }
  }

  const std::uint64_t window_;
  std::vector<AccessRecord> events_;  // of the window
  CpOrder order_;
  ThreadId running_{};
  std::vector<Thread> threads_;
  LockSets locks_;
  MustOrder<CpDetector, Sources> must_order_;
  PairTable races_;
  std::uint64_t windows_ = 0;
  std::uint64_t sweeps_ = 0;
};

}  // namespace

std::unique_ptr<Detector> make_cp_detector(const DetectorOptions& options) {
  return std::make_unique<CpDetector>(options.window);
}

}  // namespace sooth
