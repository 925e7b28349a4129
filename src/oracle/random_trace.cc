#include "oracle/random_trace.h"

#include <algorithm>
#include <optional>

#include "oracle/random.h"

namespace sooth::oracle {
namespace {

struct Range {
  std::uint64_t begin = 0;
  std::uint32_t size = 0;
};

struct Held {
  std::uint64_t lock = 0;
  bool shared = false;
};

struct Thread {
  bool needs_fork = false;
  bool has_events = false;
  bool over = false;
  std::optional<std::uint64_t> waits_for;  // a condition variable: the release was its latest event
  std::optional<std::uint64_t> retakes;    // the lock that it released for that: its next event, if it can
  std::vector<Held> held;                  // every acquire that is not released yet, re-entrant ones too
  std::vector<std::uint64_t> functions;
  std::vector<std::uint64_t> calls;
};

constexpr MemoryOrder kLoadOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kRelaxed, MemoryOrder::kConsume,
                                       MemoryOrder::kAcquire, MemoryOrder::kSeqCst};
constexpr MemoryOrder kStoreOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kRelaxed, MemoryOrder::kRelease,
                                        MemoryOrder::kSeqCst};
constexpr MemoryOrder kAllOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kConsume, MemoryOrder::kAcquire,
                                      MemoryOrder::kRelease, MemoryOrder::kAcqRel,  MemoryOrder::kSeqCst};

class Generator {
 public:
  Generator(const RandomTraceOptions& options, std::uint64_t seed)
      : options_(options), random_(seed), threads_(options.threads) {
    for (std::size_t t = 1; t < threads_.size(); ++t) {
      threads_[t].needs_fork = random_.percent(options.forked_percent);
    }
    lay_out_memory();
  }

  RandomTrace run() {
    // A step that is impossible just now (nothing to release) is drawn again; the bound ends stuck traces.
    for (std::uint32_t tries = 0; events_.size() < options_.events && tries < 40 * options_.events; ++tries) {
      step();
    }
    RandomTrace trace;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      trace.tables.add_thread(std::string("T").append(std::to_string(t)));
    }
    for (std::uint32_t s = 0; s < options_.sites; ++s) {
      Site site;
      site.label = std::to_string(s);
      trace.tables.add_site(site);
    }
    trace.events = std::move(events_);
    return trace;
  }

 private:
  void lay_out_memory() {
    // The second and third base put variables across 64 KiB and 4 KiB borders.
    constexpr std::uint64_t kBases[] = {0x1000, 0xfff0, 0x7f00'0000'0ff8};
    constexpr std::uint32_t kSizes[] = {1, 1, 2, 4, 4, 8, 8, 16, 24, 40};
    const std::uint64_t base = random_.pick(kBases);
    for (std::uint32_t v = 0; v < options_.variables; ++v) {
      if (options_.odd_memory) {
        const std::uint64_t offset = random_.percent(50) ? 8 * random_.below(4) : random_.below(32);
        variables_.push_back({base + offset, random_.pick(kSizes)});
      } else {
        variables_.push_back({0x1000 + 16 * v, 4});
      }
    }
    // Blocks: one variable, a part of the arena that cuts variables, everything.
    blocks_.push_back(variables_.front());
    blocks_.push_back({base + random_.below(16), random_.between(1, 32)});
    blocks_.push_back({variables_.front().begin - 8, 200});
  }

  void step() {
    if (!random_.percent(50)) {
      current_ = random_.below(threads_.size());
    }
    Thread& thread = threads_[current_];
    if (thread.over || thread.needs_fork) {
      current_ = random_.below(threads_.size());
      return;
    }
    if (!thread.has_events && random_.percent(30)) {
      emit(Op::kBegin, 0);
      return;
    }
    if (thread.waits_for) {
      return go_on_waiting(thread);
    }
    if (thread.retakes) {
      return retake(thread);
    }
    act(draw_action(), thread);
  }

  Action draw_action() {
    std::uint32_t total = 0;
    for (std::uint32_t weight : options_.weights) {
      total += weight;
    }
    std::uint32_t left = random_.below(total);
    int action = 0;
    while (left >= options_.weights[action]) {
      left -= options_.weights[action++];
    }
    return Action(action);
  }

  void act(Action action, Thread& thread) {
    switch (action) {
      case Action::kAccess: emit(random_.percent(50) ? Op::kRead : Op::kWrite, some_bytes()); return;
      case Action::kAtomic: atomic(); return;
      case Action::kFence: emit(Op::kFence, 0, random_.pick(kAllOrders)); return;
      case Action::kAcquire: acquire(thread); return;
      case Action::kRelease: release(thread); return;
      case Action::kNotify: emit(Op::kNotify, some_object()); return;
      case Action::kWait: emit(Op::kWait, some_object()); return;
      case Action::kArrive: emit(Op::kBarrierArrive, some_object()); return;
      case Action::kLeave: emit(Op::kBarrierLeave, some_object()); return;
      case Action::kPost: emit(Op::kSemPost, some_object()); return;
      case Action::kSemWait: emit(Op::kSemWait, some_object()); return;
      case Action::kFork: fork(); return;
      case Action::kJoin: join(); return;
      case Action::kEnd: end(thread); return;
      case Action::kAlloc: emit(Op::kAlloc, random_.pick(blocks_)); return;
      case Action::kFree: emit(Op::kFree, random_.pick(blocks_)); return;
      case Action::kBefore: emit(Op::kHappensBefore, some_object()); return;
      case Action::kAfter: emit(Op::kHappensAfter, some_object()); return;
      case Action::kEnter: push(Op::kEnter, thread.functions); return;
      case Action::kExit: pop(Op::kExit, thread.functions); return;
      case Action::kCallBegin: push(Op::kCallBegin, thread.calls); return;
      case Action::kCallEnd: pop(Op::kCallEnd, thread.calls); return;
      case Action::kMisuse:  // of a lock or a thread
        emit(Op::kMisuse, some_object());
        events_.back().size = 1 + random_.below(kMisuseKindCount - 1);
        return;
      case Action::kCondNotify:
        emit(Op::kCondNotify, some_object(), MemoryOrder::kNotAtomic, random_.percent(30) ? kEverybody : 0);
        return;
      case Action::kCondWait: wait(thread); return;
    }
  }

  void emit(Op op, std::uint64_t object, MemoryOrder order = MemoryOrder::kNotAtomic, std::uint8_t flags = 0) {
    Event e;
    e.object = object;
    e.thread = ThreadId{current_};
    e.site = SiteId{random_.below(options_.sites)};
    e.op = op;
    e.order = order;
    e.flags = flags;
    threads_[current_].has_events = true;
    events_.push_back(e);
  }
  void emit(Op op, Range bytes, MemoryOrder order = MemoryOrder::kNotAtomic) {
    emit(op, bytes.begin, order);
    events_.back().size = bytes.size;
  }

  // Objects of different kinds have equal numbers: a detector that mixes them up is caught.
  std::uint64_t some_object() { return random_.percent(25) ? 1 : 0; }

  Range some_bytes() {
    Range bytes = random_.pick(variables_);
    if (options_.odd_memory && random_.percent(25)) {  // a part of a variable
      const std::uint32_t skip = random_.below(bytes.size);
      bytes = {bytes.begin + skip, random_.between(1, bytes.size - skip)};
    }
    return bytes;
  }

  void atomic() {
    Range bytes = some_bytes();
    bytes.size = std::min(bytes.size, 16u);
    switch (random_.below(3)) {
      case 0: emit(Op::kAtomicLoad, bytes, random_.pick(kLoadOrders)); return;
      case 1: emit(Op::kAtomicStore, bytes, random_.pick(kStoreOrders)); return;
      default: emit(Op::kAtomicRmw, bytes, random_.pick(kAllOrders)); return;
    }
  }

  void acquire(Thread& thread) {
    const std::uint64_t lock = random_.below(options_.locks);
    bool shared = random_.percent(options_.shared_percent);
    std::uint8_t how = 0;
    if (options_.try_percent != 0 && random_.percent(options_.try_percent)) {
      how = random_.percent(50) ? kTry : kTimed;
    }
    // Those that wait do not come back; to fail in another thread's absence happens, too, when that is not recorded.
    const auto fail = [&] {
      if (how != 0) {
        emit(Op::kAcquireFailed, lock, MemoryOrder::kNotAtomic, how | (shared ? kShared : 0));
      }
    };
    if (how != 0 && random_.percent(3)) {
      return fail();
    }
    const auto own = std::find_if(thread.held.begin(), thread.held.end(), [&](Held h) { return h.lock == lock; });
    if (own != thread.held.end()) {
      if (!random_.percent(options_.reentrant_percent)) {
        return fail();
      }
      shared = shared || own->shared;  // no upgrades
    } else {
      for (const Thread& other : threads_) {
        for (Held h : other.held) {
          if (h.lock == lock && !(h.shared && shared)) {
            return fail();  // it would block
          }
        }
      }
    }
    thread.held.push_back({lock, shared});
    emit(Op::kAcquire, lock, MemoryOrder::kNotAtomic, static_cast<std::uint8_t>(how | (shared ? kShared : 0)));
  }

  void release(Thread& thread) {
    if (thread.held.empty()) {
      return;
    }
    std::size_t at = thread.held.size() - 1;
    if (!options_.nested) {
      // Any lock; of that lock the latest acquire, so that modes match.
      const std::uint64_t lock = random_.pick(thread.held).lock;
      while (thread.held[at].lock != lock) {
        --at;
      }
    }
    const Held held = thread.held[at];
    thread.held.erase(thread.held.begin() + static_cast<std::ptrdiff_t>(at));
    emit(Op::kRelease, held.lock, MemoryOrder::kNotAtomic, held.shared ? kShared : 0);
  }

  // Releases a lock that it holds exclusively, and waits from then on. Some traces are odd: nothing is released.
  void wait(Thread& thread) {
    const auto own = std::find_if(thread.held.begin(), thread.held.end(), [&](Held h) {
      return !h.shared &&
             std::count_if(thread.held.begin(), thread.held.end(), [&](Held o) { return o.lock == h.lock; }) == 1;
    });
    if (own == thread.held.end()) {
      if (random_.percent(10)) {
        emit(Op::kCondWait, some_object(), MemoryOrder::kNotAtomic, random_.percent(20) ? kTimed : 0);
      }
      return;
    }
    thread.waits_for = some_object();
    thread.retakes = own->lock;
    emit(Op::kRelease, own->lock);
    thread.held.erase(own);
  }

  // The wait is over, mostly because somebody has notified it.
  void go_on_waiting(Thread& thread) {
    const bool notified = std::any_of(events_.begin(), events_.end(), [&](const Event& e) {
      return e.op == Op::kCondNotify && e.object == *thread.waits_for;
    });
    if (random_.percent(notified ? 60 : 5)) {
      const bool timed = random_.percent(notified ? 10 : 50);
      emit(Op::kCondWait, *thread.waits_for, MemoryOrder::kNotAtomic, timed ? kTimed : 0);
      thread.waits_for.reset();
    }
  }

  void retake(Thread& thread) {
    const bool taken = std::any_of(threads_.begin(), threads_.end(), [&](const Thread& other) {
      return std::any_of(other.held.begin(), other.held.end(), [&](Held h) { return h.lock == *thread.retakes; });
    });
    if (!taken) {
      thread.held.push_back({*thread.retakes, false});
      emit(Op::kAcquire, *thread.retakes);
      thread.retakes.reset();
    }
  }

  void fork() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].needs_fork) {
        threads_[t].needs_fork = false;
        emit(Op::kFork, t);
        return;
      }
    }
  }

  // Also a thread that was forked and never did anything, one that others joined before, and, rarely, one that
  // still holds locks: it holds them for ever then. Threads that go on get a second chance: short lives show little.
  void join() {
    const std::uint32_t t = random_.below(threads_.size());
    Thread& thread = threads_[t];
    if (t == current_ || thread.needs_fork || (!thread.has_events && options_.forked_percent == 0) ||
        (!thread.held.empty() && !random_.percent(10)) || (!thread.over && random_.percent(50))) {
      return;
    }
    thread.over = true;
    emit(Op::kJoin, t);
  }

  void end(Thread& thread) {
    if (thread.held.empty() || random_.percent(10)) {
      emit(Op::kEnd, 0);
      thread.over = true;
    }
  }

  void push(Op op, std::vector<std::uint64_t>& stack) {
    stack.push_back(random_.below(options_.sites));
    emit(op, stack.back());
  }
  void pop(Op op, std::vector<std::uint64_t>& stack) {
    if (!stack.empty()) {
      emit(op, stack.back());
      stack.pop_back();
    }
  }

  const RandomTraceOptions options_;
  Random random_;
  std::vector<Thread> threads_;
  std::vector<Range> variables_;
  std::vector<Range> blocks_;
  std::vector<Event> events_;
  std::uint32_t current_ = 0;
};

struct Weight {
  Action action;
  std::uint32_t weight;
};

void set_weights(RandomTraceOptions& options, std::initializer_list<Weight> weights) {
  for (const Weight& w : weights) {
    options.weights[static_cast<std::size_t>(w.action)] += w.weight;
  }
}

void add_locks(RandomTraceOptions& options, std::uint32_t share) {
  set_weights(options, {{Action::kAcquire, 2 * share}, {Action::kRelease, 3 * share}});
}

void add_must_order(RandomTraceOptions& options, std::uint32_t share) {
  set_weights(options, {{Action::kNotify, share},
                        {Action::kWait, share},
                        {Action::kArrive, share},
                        {Action::kLeave, share},
                        {Action::kPost, share},
                        {Action::kSemWait, share},
                        {Action::kFork, 2 * share},
                        {Action::kJoin, share},
                        {Action::kBefore, share},
                        {Action::kAfter, share},
                        {Action::kEnd, share / 2}});
}

}  // namespace

std::string_view profile_name(Profile profile) {
  switch (profile) {
    case Profile::kLocks: return "locks";
    case Profile::kNestedLocks: return "nested locks";
    case Profile::kMustOrder: return "must-order";
    case Profile::kAtomics: return "atomics";
    case Profile::kMemory: return "memory";
    case Profile::kEverything: return "everything";
    case Profile::kTryLocks: return "try locks";
    case Profile::kConditions: return "conditions";
    case Profile::kCalls: return "calls";
  }
  return "";
}

RandomTraceOptions random_options(Profile profile, std::uint64_t seed) {
  Random random(seed ^ 0x6f7261636c65);  // not the stream of the generator
  RandomTraceOptions options;
  options.events = random.between(6, 60);
  options.threads = random.between(2, 5);
  options.locks = random.between(1, 3);
  options.variables = random.between(1, 4);
  options.sites = random.between(2, 8);
  set_weights(options, {{Action::kAccess, 10}});
  switch (profile) {
    case Profile::kNestedLocks: options.nested = true; [[fallthrough]];
    case Profile::kLocks:
      add_locks(options, 3);
      set_weights(options, {{Action::kFork, 1}});
      break;
    case Profile::kTryLocks:
      options.try_percent = random.between(20, 80);
      options.locks = random.between(2, 3);
      add_locks(options, 4);
      set_weights(options, {{Action::kFork, 1}, {Action::kJoin, random.below(2)}});
      break;
    case Profile::kConditions:
      options.locks = random.between(1, 2);
      add_locks(options, 2);
      set_weights(options, {{Action::kCondNotify, random.between(2, 4)},
                            {Action::kCondWait, random.between(4, 8)},
                            {Action::kFork, 1},
                            {Action::kJoin, random.below(2)}});
      break;
    case Profile::kMustOrder:
      add_locks(options, random.below(2));
      add_must_order(options, 1);
      break;
    case Profile::kAtomics:
      options.forked_percent = 0;
      set_weights(options, {{Action::kAtomic, 14}, {Action::kFence, 6}, {Action::kAlloc, random.below(2)}});
      break;
    case Profile::kMemory:
      options.odd_memory = true;
      add_locks(options, 1);
      set_weights(options, {{Action::kAtomic, 2},
                            {Action::kAlloc, 2},
                            {Action::kFree, 2},
                            {Action::kFork, 1},
                            {Action::kJoin, 1},
                            {Action::kBefore, 1},
                            {Action::kAfter, 1}});
      break;
    case Profile::kEverything:
      options.odd_memory = random.percent(60);
      options.nested = random.percent(10);
      options.locks = random.between(2, 3);
      options.reentrant_percent = 40;
      options.events = random.between(30, 60);  // room for several features at once
      add_locks(options, random.between(4, 8));
      add_must_order(options, random.between(2, 4));
      set_weights(options, {{Action::kAccess, 4},
                            {Action::kAtomic, 12},
                            {Action::kFence, 8},
                            {Action::kCondNotify, 6},
                            {Action::kCondWait, 8},
                            {Action::kAlloc, 1},
                            {Action::kFree, 1},
                            {Action::kEnter, 1},
                            {Action::kExit, 1},
                            {Action::kCallBegin, 1},
                            {Action::kCallEnd, 1},
                            {Action::kMisuse, 1}});
      options.try_percent = random.between(0, 60);
      break;
    case Profile::kCalls:
      options.odd_memory = random.percent(30);
      options.events = random.between(6, 36);
      add_locks(options, random.below(3));
      add_must_order(options, random.below(2));
      set_weights(options, {{Action::kAtomic, random.below(3)},
                            {Action::kCallBegin, 4},
                            {Action::kCallEnd, random.between(3, 5)},
                            {Action::kFork, 1},
                            {Action::kCondNotify, random.below(2)},
                            {Action::kCondWait, random.below(2)},
                            {Action::kAlloc, random.below(2)},
                            {Action::kFree, random.below(2)}});
      break;
  }
  return options;
}

RandomTrace random_trace(const RandomTraceOptions& options, std::uint64_t seed) {
  return Generator(options, seed).run();
}

RandomTrace random_trace(Profile profile, std::uint64_t seed) {
  return random_trace(random_options(profile, seed), seed);
}

}  // namespace sooth::oracle
