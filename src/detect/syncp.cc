#include "detect/syncp.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "detect/access_log.h"
#include "detect/epoch_summary.h"
#include "detect/syncp_history.h"
#include "detect/syncp_lists.h"
#include "order/condition_waits.h"
#include "order/must_order.h"
#include "order/shadow_memory.h"

namespace sooth {
namespace {

struct SyncpCell {
  EpochSummary summary;         // by must-order and reads-from
  LockSetId common = kNoLocks;  // locks that guarded every access so far
  bool accessed = false;
  PastEvent writer;  // the latest write; time 0: none
};

// Who holds a lock, and since when.
struct Holder {
  PastEvent acquire;
  bool shared = false;
};

// The closure of the pasts of two accesses of different threads that race, and in which segments of theirs these are.
struct Resumable {
  Time first = 0;  // time of the one whose race was in question; 0: none yet
  std::uint32_t first_segment = 0;
  std::uint32_t second_segment = 0;
  VectorClock closure;
};

class SyncpDetector final : public Detector {
 public:
  explicit SyncpDetector(const SyncpLimits& limits)
      : limits_(limits), forget_at_(limits.remember), lists_(limits.few_groups), memory_(*this), must_order_(*this) {}

  Guarantee guarantee() const override { return Guarantee::kSound; }
  const PairTable& races() const override { return races_; }
  void tell_apart(VariableClasses* variables) override { races_.tell_apart(variables); }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    return {{"cells", std::to_string(memory_.cell_count())},
            {"pairs examined", std::to_string(examined_)},
            {"closures computed", std::to_string(history_.closures())},
            {"closures resumed", std::to_string(resumed_)},
            {"locks visited", std::to_string(history_.locks_visited())},
            {"remembered at most", std::to_string(std::max(most_remembered_, remembered()))}};
  }

  void consume(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      step(batch, i);
    }
    if (remembered() >= forget_at_) {
      forget();
    }
  }

  // ShadowMemory's host.
  void on_new_cell(CellId cell) {
    if (raw(cell) >= cells_.size()) {
      cells_.resize(raw(cell) + 1);
    }
    cells_[raw(cell)] = SyncpCell{};
    lists_.add_cell(cell);
  }
  void on_split_cell(CellId from, CellId to) {
    on_new_cell(to);
    cells_[raw(to)] = cells_[raw(from)];
    lists_.copy_cell(from, to);
  }
  void on_drop_cell(CellId cell) { lists_.drop_cell(cell); }

  // MustOrder's host. Times advance with every event, so nothing is to be done when a clock goes out.
  const VectorClock& current(ThreadId thread) { return history_.clock(thread); }
  void sent(ThreadId) {}
  void restart(ThreadId thread) {
    for (const LockMode& held : locks_.table().locks(locks_.of(thread))) {
      std::erase_if(holders_[held.lock], [&](const Holder& holder) { return holder.acquire.thread == thread; });
    }
    locks_.restart(thread);
    history_.restart(thread);
  }
  void receive(ThreadId thread, const VectorClock& message) { history_.learn(thread, message); }

 private:
  void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (e.op) {
      case Op::kRead:
      case Op::kWrite:
      case Op::kFree: return access(batch, i);
      case Op::kAtomicLoad:
      case Op::kAtomicStore:
      case Op::kAtomicRmw:
        must_order_.incoming(e);
        access(batch, i);
        return must_order_.outgoing(e);
      case Op::kAcquire: return acquire(e, batch.id(i));
      case Op::kRelease: return release(e);
      case Op::kAcquireFailed: return find_taken(e);
      case Op::kCondNotify: history_.advance(e.thread); return waits_.notify(e, history_.latest(e.thread));
      case Op::kCondWait: return wake(e);
      case Op::kAlloc: memory_.allocate(e.object, e.size); return must_order_.incoming(e);
      case Op::kFence:
      case Op::kNotify:
      case Op::kWait:
      case Op::kBarrierArrive:
      case Op::kBarrierLeave:
      case Op::kSemPost:
      case Op::kSemWait:
      case Op::kHappensBefore:
      case Op::kHappensAfter: return synchronize(e);
      case Op::kFork: waits_.begin(e); return synchronize(e);
      case Op::kJoin: synchronize(e); return history_.end(ThreadId(e.object));
      case Op::kEnd: return history_.end(e.thread);
      case Op::kBegin:
      case Op::kEnter:
      case Op::kExit:
      case Op::kCallBegin:
      case Op::kCallEnd:
      case Op::kMisuse: return;
    }
  }

  void synchronize(const Event& e) {
    must_order_.incoming(e);
    history_.advance(e.thread);
    must_order_.outgoing(e);
  }

  // A wait needs the notify that it took.
  void wake(const Event& e) {
    if (const std::optional<PastEvent> notify = was_woken(e) ? waits_.take(e) : std::nullopt) {
      history_.learn(e.thread, *notify);
      history_.advance(e.thread);
    }
  }

  void acquire(const Event& e, EventId id) {
    if (locks_.acquire(e)) {
      history_.advance(e.thread);
      history_.acquire(e.thread, e.object, !is_shared(e), id);
      holders_[e.object].push_back({history_.latest(e.thread), is_shared(e)});
    }
  }

  void release(const Event& e) {
    waits_.begin(e);
    if (locks_.release(e)) {
      history_.advance(e.thread);
      history_.release(e.thread, e.object);
      std::erase_if(holders_[e.object], [&](const Holder& holder) { return holder.acquire.thread == e.thread; });
    }
  }

  // A failed acquire needs a holder: the one that it found, of several the first. In trace order that has not released
  // the lock yet. Who holds the lock himself needs nobody.
  void find_taken(const Event& e) {
    const auto excludes = [&](const Holder& holder) { return !holder.shared || !is_shared(e); };
    const Holder* first = nullptr;
    for (const Holder& holder : holders_[e.object]) {
      if (excludes(holder) && holder.acquire.thread == e.thread) {
        return;
      }
      first = first == nullptr && excludes(holder) ? &holder : first;
    }
    if (first != nullptr) {
      history_.learn(e.thread, first->acquire);
      history_.advance(e.thread);
    }
  }

  // Asks about races with what was before the access, then takes in what it read, then makes it known as a write.
  void access(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    const Time time = history_.advance(e.thread);
    const AccessRecord record{e, batch.id(i), time, locks_.of(e.thread), batch.stack(i)};
    const SyncpAccess made{record, history_.latest(e.thread).version, history_.segment(e.thread)};
    touched_.clear();
    const auto touch_cell = [&](CellId cell) {
      touch(cell, cells_[raw(cell)], made);
      touched_.push_back(cell);
    };
    if (e.op == Op::kFree) {
      memory_.free(e.object, e.size, touch_cell);
    } else {
      memory_.access(e.object, e.size, touch_cell);
    }
    if (is_read(e.op) && !is_of_made_lock(e)) {
      for (const CellId cell : touched_) {
        history_.learn(e.thread, cells_[raw(cell)].writer);
      }
    }
    if (is_write(e.op)) {
      const PastEvent write = history_.latest(e.thread);
      for (const CellId cell : touched_) {
        cells_[raw(cell)].writer = write;
      }
    }
  }

  void touch(CellId id, SyncpCell& cell, const SyncpAccess& made) {
    const AccessRecord& access = made.access;
    const AccessKind kind = access_kind(access.event.op);
    const VectorClock& own = history_.clock(access.event.thread);
    const LockSetId guards = is_write(access.event.op) ? locks_.table().exclusive(access.locks) : access.locks;
    const bool all_known = cell.summary.all_known(kind, own);
    // A lock that all accesses hold, writes exclusively, protects every conflicting pair.
    cell.common = cell.accessed ? locks_.table().intersect(cell.common, guards) : guards;
    cell.accessed = true;
    if (!all_known && cell.common == kNoLocks) {
      find_races(id, access, own);
    }
    cell.summary.add(kind, Epoch(access.event.thread, access.time), own, all_known);
    lists_.add(id, made);
  }

  // What the closure of the thread has cannot race with it; computed when there is a list that asks for it.
  void find_races(CellId cell, const AccessRecord& access, const VectorClock& own) {
    const AccessKind kind = access_kind(access.event.op);
    const ThreadId thread = access.event.thread;
    const VectorClock* known = &own;
    forget_searches();
    lists_.walk(
        cell,
        [&](AccessKind earlier, LockSetId locks) {
          return conflict(earlier, kind) && !locks_.table().protects(locks, access.locks);
        },
        [&](ThreadId other) { return (other == thread ? own : *known)[other]; },
        [&](SyncpList& list) {
          known = &history_.closure(thread);
          const SyncpAccess* first = nullptr;
          const SyncpAnswer answer = latest_race(list, thread, *known, first);
          if (first != nullptr) {
            races_.add(first->access, access);
          }
          return answer;
        });
  }

  // The latest access of the list that races with the access that `thread` is making goes into `first`. `known`: the
  // closure of the thread.
  SyncpAnswer latest_race(SyncpList& list, ThreadId thread, const VectorClock& known, const SyncpAccess*& first) {
    ++examined_;
    if (list.latest().access.time <= known[list.thread()]) {
      return SyncpAnswer::none();
    }
    if (const Overtaken by = overtaken(list.latest(), thread); by != Overtaken::kNot) {
      // So are the earlier ones of the list: they hold the same locks. What was done in earlier sections of the lock, by
      // whomever, is, too, or it is known.
      return by == Overtaken::kExclusive ? SyncpAnswer::none_before() : SyncpAnswer::none();
    }
    SyncpSearch& search = lists_.search_of(list, thread);
    while (!search.open.empty()) {
      const std::uint64_t number = search.open.last();
      const SyncpAccess& access = list.at(number);
      if (access.access.time <= known[list.thread()] || overtaken(access, thread) != Overtaken::kNot) {
        search.open.drop_all();
        return SyncpAnswer::none();
      }
      if (races(search, number, access, known)) {
        first = &access;
        return SyncpAnswer::found(access.access.id);
      }
      search.open.drop_last();
    }
    return SyncpAnswer::none();
  }

  // Whether a lock that the access holds was taken by others later on, and that is part of the closure of what `thread`
  // knows. With kExclusive the access holds that lock exclusively.
  enum class Overtaken : std::uint8_t { kNot, kShared, kExclusive };
  Overtaken overtaken(const SyncpAccess& first, ThreadId thread) {
    Overtaken result = Overtaken::kNot;
    for (const LockMode& held : locks_.table().locks(first.access.locks)) {
      if (history_.overtaken(thread, first.access.event.thread, first.access.time, held.lock)) {
        if (!held.shared) {
          return Overtaken::kExclusive;
        }
        result = Overtaken::kShared;
      }
    }
    return result;
  }

  // Whether `first` is outside the closure of its past and `known`, the closure of what the thread of `search` knows.
  bool races(SyncpSearch& search, std::uint64_t number, const SyncpAccess& first, const VectorClock& known) {
    const std::uint32_t segment = history_.segment(search.thread);
    if (search.raced != 0 && search.raced_number == number && search.raced_segment == segment) {
      return true;
    }
    const ThreadId thread = first.access.event.thread;
    const Time time = first.access.time;
    Resumable& recent = recent_[std::uint64_t{raw(search.thread)} << 32 | raw(thread)];
    // See SyncpHistory::segment(): an earlier access of this segment is outside, so this one is.
    if (recent.first != 0 && recent.first <= time && recent.first_segment == first.segment &&
        recent.second_segment == segment) {
      return true;
    }
    const std::size_t before = search.closure.times().size() + recent.closure.times().size();
    if (!resume(search, recent, time)) {
      search.closure = known;
    }
    closed_ = search.closure;
    search.closure.join(known);
    history_.include_past({thread, time, first.version}, search.closure);
    const bool outside = history_.saturate(search.closure, closed_, thread, time);
    search.raced = 0;
    if (outside) {
      recent = {time, first.segment, segment, search.closure};
      search.raced = time;
      search.raced_number = number;
      search.raced_segment = segment;
    }
    lists_.count_in_searches(search.closure.times().size() + recent.closure.times().size() - before);
    return outside;
  }

  // Searches are remembered for each list and thread, with what all threads know: with many threads that is more than
  // there is room for. To forget them costs time, and no pair.
  void forget_searches() {
    if (lists_.search_size() > limits_.searches) {
      lists_.forget_searches();
      recent_ = {};
    }
  }

  // Makes search.closure the closure of an earlier pair, of the same threads, that the one with the first access at
  // `time` can go on from: what was in that is in this. Whether there is one.
  bool resume(SyncpSearch& search, const Resumable& recent, Time time) {
    const bool own = search.raced != 0 && search.raced <= time;
    const bool other = recent.first != 0 && recent.first <= time && !(own && search.raced >= recent.first);
    if (other) {
      search.closure = recent.closure;
    }
    resumed_ += own || other ? 1 : 0;
    return own || other;
  }

  std::size_t remembered() const { return lists_.access_count() + history_.size(); }

  // Done again when as much has come together once more, so that the work stays in proportion to the trace.
  void forget() {
    most_remembered_ = std::max(most_remembered_, remembered());
    history_.forget_common_past(SyncpHistory::Idle::kCounts);
    lists_.drop(history_.forgotten());
    if (remembered() >= limits_.remember_for_idle) {
      history_.forget_common_past(SyncpHistory::Idle::kIsSkipped);
      lists_.drop(history_.forgotten());
    }
    history_.begin_idle_period();
    forget_at_ = remembered() + limits_.remember;
  }

  const SyncpLimits limits_;
  std::size_t forget_at_;
  std::size_t most_remembered_ = 0;
  std::uint64_t examined_ = 0;
  std::uint64_t resumed_ = 0;
  SyncpHistory history_;
  LockSets locks_;
  FlatMap<std::vector<Holder>> holders_;  // by lock, in the order of their acquires
  ConditionWaits<PastEvent> waits_;
  std::vector<SyncpCell> cells_;
  SyncpLists lists_;
  ShadowMemory<SyncpDetector> memory_;
  MustOrder<SyncpDetector, VectorClock> must_order_;
  PairTable races_;
  FlatMap<Resumable> recent_;  // by second << 32 | first thread: the latest one
  // Scratch.
  std::vector<CellId> touched_;
  VectorClock closed_;
};

}  // namespace

std::unique_ptr<Detector> make_syncp_detector(const SyncpLimits& limits) {
  return std::make_unique<SyncpDetector>(limits);
}

std::unique_ptr<Detector> make_syncp_detector() { return make_syncp_detector(SyncpLimits{}); }

}  // namespace sooth
