#include "trace/check/validator.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "trace/check/value_memory.h"
#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

enum class Phase : std::uint8_t { kUnseen, kForked, kRunning, kEnded, kJoined };

// What is said about a thread in errors.
struct ThreadHistory {
  EventId forked{};
  EventId first{};
  EventId over{};  // its end, or the join of it
};
// Of so many threads that are over it is still known when that was. Of others it is not said.
constexpr std::size_t kRememberedEnds = 4096;

// A hold of a lock by one thread: from its outermost acquire.
struct Hold {
  EventId since{};
  std::uint32_t depth = 0;
};

struct Lock {
  Hold exclusive;
  ThreadId owner{};                        // of `exclusive`, when its depth is not 0
  std::unique_ptr<FlatMap<Hold>> readers;  // by thread; made by the first shared acquire, most locks have none
};

struct OpenCall {
  std::uint64_t call = 0;
  EventId begin{};
};

std::string number(EventId id) { return std::to_string(raw(id)); }

// "a write", "an atomic load".
std::string with_article(Op op) {
  const std::string name(op_name(op));
  return (std::string("aeiou").find(name[0]) == std::string::npos ? "a " : "an ") + name;
}

std::string bytes(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

bool sized(Op op) { return is_access(op) || op == Op::kAlloc || op == Op::kFree; }
bool ordered(Op op) { return is_atomic(op) || op == Op::kFence; }
// A failed acquire was one that might fail.
bool flags_mean_something(const Event& e) {
  const int how = e.flags & (kTry | kTimed);
  switch (e.op) {
    case Op::kAcquire: return (e.flags & ~kAllFlags) == 0 && how != (kTry | kTimed);
    case Op::kAcquireFailed: return (e.flags & ~kAllFlags) == 0 && (how == kTry || how == kTimed);
    case Op::kRelease: return (e.flags & ~kShared) == 0;
    case Op::kCondNotify: return (e.flags & ~kEverybody) == 0;
    case Op::kCondWait: return (e.flags & ~kTimed) == 0;
    default: return e.flags == 0;
  }
}
bool wraps(std::uint64_t begin, std::uint64_t length) { return begin + (length - 1) < begin; }

// op, order, flags and reserved as one number: equal to the op when the others are 0.
std::uint32_t kind_word(const Event& e) {
  static_assert(std::endian::native == std::endian::little && offsetof(Event, op) == 20);
  std::uint32_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(&e) + offsetof(Event, op), sizeof word);
  return word;
}

// Events that check_shape accepts, recognised in a few instructions because nearly all are of these two kinds.
bool is_plain_access(const Event& e) {
  return kind_word(e) <= raw(Op::kWrite) && e.size != 0 && e.object <= ~std::uint64_t{e.size};
}
bool is_plain_lock_op(const Event& e) {
  return kind_word(e) - raw(Op::kAcquire) <= raw(Op::kRelease) - raw(Op::kAcquire) && e.size == 0;
}

}  // namespace

// Functions that check return whether all is well; when not, error_ says why.
struct TraceValidator::State {
 public:
  Status consume(const Batch& batch, const Tables& tables, bool values_explained);

 private:
  template <bool kWithValues>
  bool check_events(const Batch& batch);
  bool check_event(const Event& e);
  bool check_shape(const Event& e);
  bool enter_thread(const Event& e);
  bool check_rules(const Event& e);
  bool fork(const Event& e);
  bool join(const Event& e);
  bool acquire(const Event& e);
  bool acquire_shared(const Event& e, Lock& lock);
  bool release(const Event& e);
  bool call_end(const Event& e);
  bool check_value(const Event& e, const Value& value);
  bool check_value_size(const Event& e, const Value& value);
  bool check_value_sizes(const Batch& batch);
  bool check_columns(const Batch& batch);
  bool check_branches(const Batch& batch);
  bool check_reaches(const Batch& batch);
  void open_reaches(const Batch& batch);

  void end_thread(std::uint64_t thread);
  // " (event 17)"; nothing when that is forgotten.
  std::string when(std::uint64_t thread, EventId ThreadHistory::*what) const {
    const ThreadHistory* const history = histories_.find(thread);
    return history == nullptr ? "" : " (event " + number(history->*what) + ")";
  }

  [[gnu::cold]] bool fail(const Event& e, const std::string& what);
  [[gnu::cold]] bool fail(const std::string& what);
  std::string lock_name(const Event& e) const { return tables_->describe(ObjectKind::kLock, e.object); }

  // Of the batch that is being consumed.
  const Tables* tables_ = nullptr;
  std::size_t threads_ = 0;
  std::size_t sites_ = 0;
  EventId now_{};  // the event that is being checked
  Status error_;

  EventId next_{};
  // A byte and a bit for each thread of the trace; all else for those that are not over, and some that are.
  std::vector<Phase> phases_;  // by thread
  std::vector<bool> forked_;   // by thread
  FlatMap<ThreadHistory> histories_;
  std::deque<std::uint64_t> ended_;       // those in histories_ that are over, the first to end first
  FlatMap<std::vector<OpenCall>> calls_;  // by thread, if there are any
  FlatMap<Lock> locks_;
  ValueMemory memory_;
  std::size_t next_reach_ = 0;  // in the batch
  bool values_seen_ = false;    // once values are there, events without them matter too: they make bytes unknown
};

Status TraceValidator::State::consume(const Batch& batch, const Tables& tables, bool values_explained) {
  if (batch.first != next_) {
    return Status::internal("the batch after event " + number(next_) + " starts at event " + number(batch.first));
  }
  tables_ = &tables;
  threads_ = std::min<std::size_t>(tables.thread_count(), std::numeric_limits<std::uint32_t>::max());
  sites_ = tables.site_count();
  phases_.resize(threads_, Phase::kUnseen);
  forked_.resize(threads_);
  next_reach_ = 0;
  values_seen_ = values_seen_ || (!batch.values.empty() && !values_explained);
  const bool fine = check_columns(batch) && check_branches(batch) && check_reaches(batch) &&
                    (!values_explained || check_value_sizes(batch)) &&
                    (values_seen_ ? check_events<true>(batch) : check_events<false>(batch));
  next_ = advance(next_, batch.events.size());
  return fine ? Status() : error_;
}

template <bool kWithValues>
bool TraceValidator::State::check_events(const Batch& batch) {
  const Phase* const phases = phases_.data();
  const std::size_t threads = threads_;
  const std::size_t sites = sites_;
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& e = batch.events[i];
    const bool of_running_thread = raw(e.thread) < threads && phases[raw(e.thread)] == Phase::kRunning;
    const bool known = of_running_thread && raw(e.site) < sites;
    if (known && is_plain_access(e)) {
      // The common case: nothing can be wrong, and nothing is to be remembered.
    } else {
      now_ = batch.id(i);
      if (!(known && is_plain_lock_op(e) ? check_rules(e) : check_event(e))) {
        return false;
      }
    }
    if constexpr (kWithValues) {
      now_ = batch.id(i);
      if (!check_value(e, batch.values.empty() ? Value{} : batch.values[i])) {
        return false;
      }
      if (e.op == Op::kCallBegin) {
        open_reaches(batch);
      }
    }
  }
  return true;
}

bool TraceValidator::State::check_event(const Event& e) { return check_shape(e) && enter_thread(e) && check_rules(e); }

// What can be said about an event without its past.
bool TraceValidator::State::check_shape(const Event& e) {
  if (raw(e.thread) >= threads_) {
    return fail("event " + number(now_) + ": thread " + std::to_string(raw(e.thread)) + " is not one of the " +
                std::to_string(threads_) + " threads of the trace");
  }
  if (raw(e.op) >= kOpCount) {
    return fail(e, "unknown kind of event " + std::to_string(raw(e.op)));
  }
  if (raw(e.site) >= sites_) {
    return fail(e, "site " + std::to_string(raw(e.site)) + " is not one of the " + std::to_string(sites_) +
                       " sites of the trace");
  }
  if (raw(e.order) >= kMemoryOrderCount) {
    return fail(e, "unknown memory order " + std::to_string(raw(e.order)));
  }
  if (ordered(e.op) != (e.order != MemoryOrder::kNotAtomic)) {
    return fail(e, with_article(e.op) + (ordered(e.op) ? " has no memory order" : " has a memory order"));
  }
  if (e.reserved != 0 || !flags_mean_something(e)) {
    return fail(e, with_article(e.op) + " has flags that mean nothing there");
  }
  if (e.op == Op::kMisuse) {
    return is_misuse_kind(e.size) || fail(e, "a misuse of the unknown kind " + std::to_string(e.size));
  }
  if (sized(e.op) != (e.size != 0)) {
    return fail(e, with_article(e.op) + (sized(e.op) ? " of 0 bytes" : " has a size"));
  }
  if (sized(e.op) && wraps(e.object, e.size)) {
    return fail(e, with_article(e.op) + " of " + std::to_string(e.size) + " bytes at " +
                       tables_->describe(ObjectKind::kMemory, e.object) + " runs over the end of the address space");
  }
  return true;
}

// May the thread do anything now, and is this its first event?
bool TraceValidator::State::enter_thread(const Event& e) {
  Phase& phase = phases_[raw(e.thread)];
  switch (phase) {
    case Phase::kUnseen:
    case Phase::kForked:
      phase = Phase::kRunning;
      histories_[raw(e.thread)].first = now_;
      return true;
    case Phase::kRunning:
      if (e.op == Op::kBegin) {
        return fail(e, "begins, but did something before" + when(raw(e.thread), &ThreadHistory::first));
      }
      return true;
    case Phase::kEnded:
      return fail(e, with_article(e.op) + " after the end of its thread" + when(raw(e.thread), &ThreadHistory::over));
    case Phase::kJoined:
      return fail(e, with_article(e.op) + " after its thread was joined" + when(raw(e.thread), &ThreadHistory::over));
  }
  return true;
}

bool TraceValidator::State::check_rules(const Event& e) {
  switch (e.op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence:
    case Op::kAlloc:
    case Op::kFree:
    case Op::kNotify:
    case Op::kWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kHappensBefore:
    case Op::kHappensAfter:
    case Op::kCondNotify:
    case Op::kCondWait:       // whoever notified it may not be in the trace
    case Op::kAcquireFailed:  // whoever has the lock may not be in the trace
    case Op::kBegin: return true;
    case Op::kEnd:
      phases_[raw(e.thread)] = Phase::kEnded;
      end_thread(raw(e.thread));
      return true;
    case Op::kAcquire: return acquire(e);
    case Op::kRelease: return release(e);
    case Op::kFork: return fork(e);
    case Op::kJoin: return join(e);
    case Op::kEnter:
    case Op::kExit:
      return e.object < sites_ ||
             fail(e, with_article(e.op) + " of function " + std::to_string(e.object) + ", which is not one of the " +
                         std::to_string(sites_) + " sites of the trace");
    case Op::kCallBegin: calls_[raw(e.thread)].push_back({e.object, now_}); return true;
    case Op::kCallEnd: return call_end(e);
    case Op::kMisuse:
      return object_kind(e) != ObjectKind::kThread || e.object < threads_ ||
             fail(e, "a leak of thread " + std::to_string(e.object) + ", which is not one of the " +
                         std::to_string(threads_) + " threads of the trace");
  }
  return true;
}

bool TraceValidator::State::fork(const Event& e) {
  if (e.object >= threads_) {
    return fail(e, "forks thread " + std::to_string(e.object) + ", which is not one of the " +
                       std::to_string(threads_) + " threads of the trace");
  }
  if (e.object == raw(e.thread)) {
    return fail(e, "forks itself");
  }
  const auto child = [&] { return "thread " + tables_->thread_name(ThreadId(e.object)); };
  if (forked_[e.object]) {
    const ThreadHistory* const history = histories_.find(e.object);
    return fail(e, child() + " is forked a second time" +
                       (history == nullptr ? "" : " (first at event " + number(history->forked) + ")"));
  }
  switch (phases_[e.object]) {
    case Phase::kUnseen: break;
    case Phase::kForked:
    case Phase::kRunning:
    case Phase::kEnded:
      return fail(e, child() + " is forked after its first event" + when(e.object, &ThreadHistory::first));
    case Phase::kJoined:
      return fail(e, child() + " is forked after it was joined" + when(e.object, &ThreadHistory::over));
  }
  phases_[e.object] = Phase::kForked;
  forked_[e.object] = true;
  histories_[e.object].forked = now_;
  return true;
}

bool TraceValidator::State::join(const Event& e) {
  if (e.object >= threads_) {
    return fail(e, "joins thread " + std::to_string(e.object) + ", which is not one of the " +
                       std::to_string(threads_) + " threads of the trace");
  }
  if (e.object == raw(e.thread)) {
    return fail(e, "joins itself");
  }
  Phase& phase = phases_[e.object];
  if (phase == Phase::kEnded) {
    if (ThreadHistory* const history = histories_.find(e.object)) {
      history->over = now_;
    }
  } else if (phase != Phase::kJoined) {
    end_thread(e.object);
  }
  phase = Phase::kJoined;
  return true;
}

// The thread is over from now on.
void TraceValidator::State::end_thread(std::uint64_t thread) {
  histories_[thread].over = now_;
  ended_.push_back(thread);
  if (ended_.size() > kRememberedEnds) {
    histories_.erase(ended_.front());
    ended_.pop_front();
  }
}

bool TraceValidator::State::acquire(const Event& e) {
  Lock& lock = locks_[e.object];
  if (lock.exclusive.depth != 0) {
    if (lock.owner != e.thread) {
      return fail(e, "acquires lock " + lock_name(e) + (is_shared(e) ? " in shared mode" : "") +
                         ", held exclusively by " + tables_->thread_name(lock.owner) + " since event " +
                         number(lock.exclusive.since));
    }
    ++lock.exclusive.depth;
    return true;
  }
  if (is_shared(e)) {
    return acquire_shared(e, lock);
  }
  if (lock.readers != nullptr && !lock.readers->empty()) {
    if (const Hold* own = lock.readers->find(raw(e.thread))) {
      return fail(e, "acquires lock " + lock_name(e) + " exclusively while it holds it in shared mode (since event " +
                         number(own->since) + ")");
    }
    EventId since{std::numeric_limits<std::uint64_t>::max()};
    ThreadId holder{};
    lock.readers->for_each([&](std::uint64_t thread, const Hold& hold) {
      if (hold.since < since) {
        since = hold.since;
        holder = ThreadId(thread);
      }
    });
    return fail(e, "acquires lock " + lock_name(e) + ", held in shared mode by " + tables_->thread_name(holder) +
                       " since event " + number(since));
  }
  lock.exclusive = {now_, 1};
  lock.owner = e.thread;
  return true;
}

bool TraceValidator::State::acquire_shared(const Event& e, Lock& lock) {
  if (lock.readers == nullptr) {
    lock.readers = std::make_unique<FlatMap<Hold>>();
  }
  Hold& hold = (*lock.readers)[raw(e.thread)];
  if (hold.depth++ == 0) {
    hold.since = now_;
  }
  return true;
}

bool TraceValidator::State::release(const Event& e) {
  Lock* lock = locks_.find(e.object);
  if (lock != nullptr && lock->exclusive.depth != 0 && lock->owner == e.thread) {
    if (lock->exclusive.depth == 1 && is_shared(e)) {
      return fail(e, "releases lock " + lock_name(e) + " in shared mode, but holds it exclusively since event " +
                         number(lock->exclusive.since));
    }
    --lock->exclusive.depth;
    return true;
  }
  Hold* hold = lock != nullptr && lock->readers != nullptr ? lock->readers->find(raw(e.thread)) : nullptr;
  if (hold == nullptr) {
    return fail(e, "releases lock " + lock_name(e) + " which it does not hold");
  }
  if (!is_shared(e)) {
    return fail(e, "releases lock " + lock_name(e) + " exclusively, but holds it in shared mode since event " +
                       number(hold->since));
  }
  if (--hold->depth == 0) {
    lock->readers->erase(raw(e.thread));
  }
  return true;
}

bool TraceValidator::State::call_end(const Event& e) {
  std::vector<OpenCall>& open = calls_[raw(e.thread)];
  const auto call = std::find_if(open.rbegin(), open.rend(), [&](const OpenCall& c) { return c.call == e.object; });
  if (call == open.rend()) {
    return fail(e, "ends call " + tables_->describe(ObjectKind::kCall, e.object) + " which it did not begin");
  }
  memory_.close_reach(call->begin);
  open.erase(std::next(call).base());
  if (open.empty()) {
    calls_.erase(raw(e.thread));
  }
  return true;
}

bool TraceValidator::State::check_value_size(const Event& e, const Value& value) {
  return value.size == 0 || (is_access(e.op) && value.size <= kMaxValueBytes && value.size <= value_extent(e)) ||
         fail(e, with_article(e.op) + " of " + bytes(e.size) + " has a value of " + bytes(value.size));
}

// Events of an unknown kind or thread are for others to name.
bool TraceValidator::State::check_value_sizes(const Batch& batch) {
  for (std::size_t i = 0; i < batch.values.size(); ++i) {
    const Event& e = batch.events[i];
    now_ = batch.id(i);
    if (raw(e.op) < kOpCount && raw(e.thread) < threads_ && !check_value_size(e, batch.values[i])) {
      return false;
    }
  }
  return true;
}

bool TraceValidator::State::check_value(const Event& e, const Value& value) {
  if (!check_value_size(e, value)) {
    return false;
  }
  if (const std::optional<Value> held = memory_.consume(e, value)) {
    return fail(e, "reads " + to_string(value) + " from " + tables_->describe(ObjectKind::kMemory, e.object) +
                       ", where the last writes left " + to_string(*held));
  }
  return true;
}

bool TraceValidator::State::check_columns(const Batch& batch) {
  if (!batch.stacks.empty() && batch.stacks.size() != batch.events.size()) {
    return fail("a batch of " + std::to_string(batch.events.size()) + " events has " +
                std::to_string(batch.stacks.size()) + " stacks");
  }
  if (!batch.values.empty() && batch.values.size() != batch.events.size()) {
    return fail("a batch of " + std::to_string(batch.events.size()) + " events has " +
                std::to_string(batch.values.size()) + " values");
  }
  const std::size_t stacks = tables_->stack_count();
  const auto bad = std::find_if(batch.stacks.begin(), batch.stacks.end(), [&](StackId s) { return raw(s) >= stacks; });
  if (bad == batch.stacks.end()) {
    return true;
  }
  return fail("event " + number(batch.id(static_cast<std::size_t>(bad - batch.stacks.begin()))) + ": stack " +
              std::to_string(raw(*bad)) + " is not one of the " + std::to_string(stacks) + " stacks of the trace");
}

bool TraceValidator::State::check_branches(const Batch& batch) {
  EventId previous = batch.first;
  for (const Branch& branch : batch.branches) {
    const auto where = [&] { return "branch before event " + number(branch.before) + ": "; };
    if (branch.before < previous || branch.before > batch.id(batch.events.size())) {
      return fail(where() + "it does not stand in the order of events");
    }
    if (raw(branch.thread) >= threads_ || raw(branch.site) >= sites_) {
      return fail(where() + "its thread " + std::to_string(raw(branch.thread)) + " or site " +
                  std::to_string(raw(branch.site)) + " is not in the trace");
    }
    previous = branch.before;
  }
  return true;
}

bool TraceValidator::State::check_reaches(const Batch& batch) {
  EventId previous = batch.first;
  for (const Reach& reach : batch.reaches) {
    const auto where = [&] { return "reach of event " + number(reach.call) + ": "; };
    if (reach.call < previous || reach.call >= batch.id(batch.events.size()) ||
        batch.events[raw(reach.call) - raw(batch.first)].op != Op::kCallBegin) {
      return fail(where() + "no call begins there, or it does not stand in the order of events");
    }
    if (reach.length == 0 || wraps(reach.begin, reach.length)) {
      return fail(where() + "a range of " + std::to_string(reach.length) + " bytes at " +
                  tables_->describe(ObjectKind::kMemory, reach.begin) + " is empty or runs over the address space");
    }
    previous = reach.call;
  }
  return true;
}

void TraceValidator::State::open_reaches(const Batch& batch) {
  for (; next_reach_ < batch.reaches.size() && batch.reaches[next_reach_].call <= now_; ++next_reach_) {
    const Reach& reach = batch.reaches[next_reach_];
    memory_.open_reach(reach.call, reach.begin, reach.length);
  }
}

bool TraceValidator::State::fail(const Event& e, const std::string& what) {
  return fail("event " + number(now_) + " (" + tables_->thread_name(e.thread) + "): " + what);
}

bool TraceValidator::State::fail(const std::string& what) {
  error_ = Status::bad_input(what);
  return false;
}

TraceValidator::TraceValidator() : state_(std::make_unique<State>()) {}
TraceValidator::~TraceValidator() = default;

Status TraceValidator::consume(const Batch& batch, const Tables& tables, bool values_explained) {
  return state_->consume(batch, tables, values_explained);
}

}  // namespace sooth
