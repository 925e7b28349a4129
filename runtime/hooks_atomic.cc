// Atomic operations: performed here, under a lock chosen by their address, so that the order of tickets is the order in
// which they happened to each location. Values are exact.
#include "runtime/control.h"
#include "runtime/init.h"
#include "runtime/intercept.h"
#include "runtime/options.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"
#include "runtime/turn.h"
#include "runtime/weak.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

using a8 = unsigned char;
using a16 = unsigned short;
using a32 = unsigned;
using a64 = unsigned long;
using a128 = unsigned __int128;

struct alignas(64) Shard {
  SpinLock lock;
};
constexpr u32 kShards = 1024;
Shard shards_[kShards];

SpinLock& shard_of(const volatile void* p) {
  auto address = reinterpret_cast<uptr>(p);
  return shards_[(address >> 4 ^ address >> 14) & (kShards - 1)].lock;
}

// The numbers of __ATOMIC_*, with flags that compilers may add in higher bits.
MemoryOrder order_of(int order) {
  if (options.force_seq_cst_atomics) return MemoryOrder::kSeqCst;
  switch (order & 0xff) {
    case __ATOMIC_RELAXED: return MemoryOrder::kRelaxed;
    case __ATOMIC_CONSUME: return MemoryOrder::kConsume;
    case __ATOMIC_ACQUIRE: return MemoryOrder::kAcquire;
    case __ATOMIC_RELEASE: return MemoryOrder::kRelease;
    case __ATOMIC_ACQ_REL: return MemoryOrder::kAcqRel;
    default: return MemoryOrder::kSeqCst;
  }
}

// 16 bytes go through cmpxchg16b; the others are plain machine instructions. All sequentially consistent.
template <typename T>
SOOTH_INLINE bool machine_cas(volatile T* p, T& expected, T desired) {
  if constexpr (sizeof(T) == 16) {
    T seen = __sync_val_compare_and_swap(p, expected, desired);
    bool done = seen == expected;
    expected = seen;
    return done;
  } else {
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
}

template <typename T>
SOOTH_INLINE T machine_load(const volatile T* p) {
  if constexpr (sizeof(T) == 16) {
    // Reads through a compare-exchange of 0 with 0: needs a writable page, as the machine offers nothing better.
    return __sync_val_compare_and_swap(const_cast<volatile T*>(p), T{0}, T{0});
  } else {
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
  }
}

template <typename T>
SOOTH_INLINE void machine_store(volatile T* p, T value) {
  if constexpr (sizeof(T) == 16) {
    T seen = machine_load(p);
    while (!machine_cas(p, seen, value)) {
    }
  } else {
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
  }
}

// Applies `change` to the value and returns the old one.
template <typename T, typename F>
SOOTH_INLINE T machine_rmw(volatile T* p, F change) {
  T seen = machine_load(p);
  while (!machine_cas(p, seen, change(seen))) {
  }
  return seen;
}

template <typename T>
EventValue value_of(T v) {
  if constexpr (sizeof(T) == 16)
    return {static_cast<u64>(v), static_cast<u64>(v >> 64)};
  else
    return {static_cast<u64>(v), 0};
}

// --- with weak memory: what is done is up to weak.h, and memory follows

weak_run::Order weak_order(int order) {
  switch (order_of(order)) {
    case MemoryOrder::kNotAtomic:
    case MemoryOrder::kRelaxed: return weak_run::Order::kRelaxed;
    case MemoryOrder::kConsume:
    case MemoryOrder::kAcquire: return weak_run::Order::kAcquire;
    case MemoryOrder::kRelease: return weak_run::Order::kRelease;
    case MemoryOrder::kAcqRel: return weak_run::Order::kAcqRel;
    case MemoryOrder::kSeqCst: return weak_run::Order::kSeqCst;
  }
  return weak_run::Order::kSeqCst;
}

template <typename T>
weak_run::Value weak_value(T v) {
  EventValue value = value_of(v);
  return {value.low, value.high};
}
template <typename T>
T from_weak(const weak_run::Value& v) {
  if constexpr (sizeof(T) == 16)
    return static_cast<T>(v.high) << 64 | v.low;
  else
    return static_cast<T>(v.low);
}
template <typename T>
weak_run::Access weak_access(Thread* t, const volatile T* p, uptr pc) {
  return {t, pc, reinterpret_cast<uptr>(p), sizeof(T), weak_value<T>(machine_load(p))};
}

template <typename T>
T weak_load(Thread* t, const volatile T* p, int order, uptr pc) {
  return from_weak<T>(weak_run::load(weak_access(t, p, pc), weak_order(order)).read);
}
template <typename T>
void weak_store(Thread* t, volatile T* p, T v, int order, uptr pc) {
  if (weak_run::store(weak_access(t, p, pc), weak_order(order), weak_value(v)).changes) machine_store(p, v);
}
bool weak_same_ = false;  // the last weak_modify() wrote what it read; of the thread that has the turn

// `change(old, next)` as weak_run::Change. Returns what was read; `wrote`: whether it changed anything.
template <typename T, typename F>
T weak_modify(Thread* t, volatile T* p, int order, int otherwise, uptr pc, F change, bool& wrote) {
  auto call = [](void* context, const weak_run::Value& old, weak_run::Value& next) {
    T changed{};
    bool writes = (*static_cast<F*>(context))(from_weak<T>(old), changed);
    next = weak_value(changed);
    return writes;
  };
  weak_run::Seen seen =
      weak_run::modify(weak_access(t, p, pc), weak_order(order), weak_order(otherwise), call, &change);
  if (seen.changes) machine_store(p, from_weak<T>(seen.value));
  wrote = seen.wrote;
  weak_same_ = wrote && seen.value == seen.read;
  return from_weak<T>(seen.read);
}

// Nothing of the operation is recorded. A handler that waits runs here, then, and others get their turn: there is no
// other place in a loop of such operations.
SOOTH_INLINE bool is_unrecorded(Thread* t) {
  if (t == nullptr) return true;
  if (SOOTH_LIKELY(is_synchronisation_seen(t))) return false;
  pass_over(t);
  return true;
}

// The handler of a fault may leave by a jump: better here, while nothing is held.
SOOTH_INLINE void touch(const volatile void* p) { static_cast<void>(*static_cast<const volatile u8*>(p)); }

// Others may go first, in front of the operation; in a controlled run it may be one of the pair.
SOOTH_INLINE void begin_access(Thread* t, Op op, const volatile void* p, u32 bytes, uptr pc, int order,
                               bool tries = false) {
  if (!recorder.serial) return;
  auto address = reinterpret_cast<uptr>(p);
  turn::step(t, {op, pc, address, bytes, tries, 0, weak_run::is_on() && order_of(order) == MemoryOrder::kSeqCst});
  if (SOOTH_UNLIKELY(recorder.controlled)) controlled::approach_atomic(t, pc, op, address, bytes);
}

// Who looks at the same again and again and does nothing else waits for somebody: a serial recording lets others go on. In
// controlled runs the schedule decides (SpinWatch).
SOOTH_INLINE void looked(Thread* t, uptr pc, const volatile void* p, u64 value) {
  if (!recorder.serial || recorder.controlled) return;
  constexpr u32 kPatience = 8, kOnTheWay = 512;  // times in a row; what a few operations and accesses take of a quantum
  Look& look = t->looks[pc / 4 % kLooks];
  auto address = reinterpret_cast<uptr>(p);
  bool again =
      look.pc == pc && look.address == address && look.value == value && look.quantum - t->quantum <= kOnTheWay;
  look = {pc, address, value, t->quantum, again ? look.times + 1 : 0};
  if (SOOTH_UNLIKELY(look.times >= kPatience)) {
    look.times = 0;
    turn::yield(t);
    look.quantum = t->quantum;
  }
}
SOOTH_INLINE void changed(Thread* t) {
  if (!recorder.serial) return;
  if (recorder.controlled) return controlled::changed_atomic(t);
  for (Look& look : t->looks) look.times = 0;
}

// Runs `operation` (returns what the access read, or wrote for a store; gets the thread, nullptr: nothing is recorded) and
// records it as `op`.
template <Op op, typename T, typename F>
SOOTH_INLINE T perform(const volatile T* p, int order, uptr pc, F operation) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(is_unrecorded(t))) return operation(nullptr);
  begin_access(t, op, p, sizeof(T), pc, order);
  touch(p);
  T value;
  bool same = op == Op::kAtomicLoad;
  {
    Busy busy(t);
    SpinGuard guard(shard_of(p));
    value = operation(t);
    if (op == Op::kAtomicRmw && recorder.serial) same = weak_run::is_on() ? weak_same_ : machine_load(p) == value;
    if (op == Op::kAtomicRmw && same && SOOTH_UNLIKELY(recorder.controlled)) turn::changed_nothing(t);
    EventValue recorded = value_of(value);
    write_event(t, pc, Shape::of(op, order_of(order), sizeof(T)), reinterpret_cast<uptr>(p), 0, &recorded);
  }
  if (same)
    looked(t, pc, p, value_of(value).low);
  else
    changed(t);
  return value;
}

template <typename T>
SOOTH_INLINE T load(const volatile T* p, int order, uptr pc) {
  return perform<Op::kAtomicLoad>(p, order, pc, [&](Thread* t) {
    return t != nullptr && weak_run::is_on() ? weak_load(t, p, order, pc) : machine_load(p);
  });
}

template <typename T>
SOOTH_INLINE void store(volatile T* p, T v, int order, uptr pc) {
  perform<Op::kAtomicStore>(p, order, pc, [&](Thread* t) {
    if (t != nullptr && weak_run::is_on())
      weak_store(t, p, v, order, pc);
    else
      machine_store(p, v);
    return v;
  });
}

// A read-modify-write that always writes: `change` gives the new value for the old one.
template <typename T, typename F>
SOOTH_INLINE T modify(volatile T* p, int order, uptr pc, F change) {
  return perform<Op::kAtomicRmw>(p, order, pc, [&](Thread* t) {
    if (t == nullptr || !weak_run::is_on()) return machine_rmw(p, change);
    auto changes = [&](T old, T& next) {
      next = change(old);
      return true;
    };
    bool wrote;
    return weak_modify(t, p, order, order, pc, changes, wrote);
  });
}

// A compare-exchange is a load when it fails, so what is recorded depends on what happened.
template <typename T>
SOOTH_INLINE bool compare_exchange(volatile T* p, T& expected, T desired, int success, int failure, uptr pc) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(is_unrecorded(t))) return machine_cas(p, expected, desired);
  // Of the two orders the stronger one: nobody knows yet which it will be.
  begin_access(t, Op::kAtomicRmw, p, sizeof(T), pc, order_of(failure) == MemoryOrder::kSeqCst ? failure : success,
               true);
  touch(p);
  bool done;
  {
    Busy busy(t);
    SpinGuard guard(shard_of(p));
    if (weak_run::is_on()) {
      auto change = [&](T old, T& next) {
        next = desired;
        return old == expected;
      };
      expected = weak_modify(t, p, success, failure, pc, change, done);
    } else {
      done = machine_cas(p, expected, desired);
    }
    if (!done && SOOTH_UNLIKELY(recorder.controlled)) turn::changed_nothing(t);
    EventValue seen = value_of(expected);
    Op op = done ? Op::kAtomicRmw : Op::kAtomicLoad;
    write_event(t, pc, Shape::of(op, order_of(done ? success : failure), sizeof(T)), reinterpret_cast<uptr>(p), 0,
                &seen);
  }
  if (done)
    changed(t);
  else
    looked(t, pc, p, value_of(expected).low);
  return done;
}

// What a failed compare-exchange hands back. No compiler has a hook for this write, and a serial recording needs its
// value.
template <typename T>
void store_seen(T* expected, T seen, uptr pc) {
  Thread* t = current();
  if (t != nullptr && recorder.controlled) t->spin.fails(reinterpret_cast<uptr>(expected));
  if (t != nullptr && recorder.serial) write_range(t, pc, Op::kWrite, reinterpret_cast<uptr>(expected), sizeof(T));
  *expected = seen;
}

}  // namespace

void sooth::rt::fence(int order, uptr pc) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  Thread* t = current();
  if (t == nullptr || !is_synchronisation_seen(t)) return;
  bool in_s = weak_run::is_on() && order_of(order) == MemoryOrder::kSeqCst;
  if (recorder.serial) turn::step(t, {Op::kFence, pc, 0, 0, false, 0, in_s});
  if (weak_run::is_on()) weak_run::fence(t, weak_order(order));
  write_event(t, pc, Shape::of(Op::kFence, order_of(order)), 0);
}

void sooth::rt::restart_atomics_after_fork() {
  for (Shard& shard : shards_) shard.lock.reset();
}

void sooth::rt::release_through(u32* word, uptr pc) {
  perform<Op::kAtomicRmw>(word, __ATOMIC_RELEASE, pc, [&](Thread* t) {
    if (t != nullptr && weak_run::is_on()) weak_run::happened(t, Op::kHappensBefore, reinterpret_cast<uptr>(word), 0);
    weak_same_ = true;
    return machine_rmw(word, [](u32 old) { return old; });
  });
}
template <typename T>
static void acquire_through_any(const T* word, uptr pc) {
  perform<Op::kAtomicLoad>(word, __ATOMIC_ACQUIRE, pc, [&](Thread* t) {
    if (t != nullptr && weak_run::is_on()) weak_run::happened(t, Op::kHappensAfter, reinterpret_cast<uptr>(word), 0);
    return machine_load(word);
  });
}
void sooth::rt::acquire_through(const u32* word, uptr pc) { acquire_through_any(word, pc); }
void sooth::rt::acquire_through(const u64* word, uptr pc) { acquire_through_any(word, pc); }

#define SOOTH_RMW(bits, T, name, expression)                                                  \
  SOOTH_EXPORT T __tsan_atomic##bits##_##name(volatile T* p, T v, int order) {                \
    return modify(p, order, SOOTH_CALLER, [&](T old) { return static_cast<T>(expression); }); \
  }

#define SOOTH_CAS(bits, T, strength)                                                                        \
  SOOTH_EXPORT int __tsan_atomic##bits##_compare_exchange_##strength(volatile T* p, T* expected, T desired, \
                                                                     int success, int failure) {            \
    T seen = *expected;                                                                                     \
    bool done = compare_exchange(p, seen, desired, success, failure, SOOTH_CALLER);                         \
    if (!done) store_seen(expected, seen, SOOTH_CALLER);                                                    \
    return done;                                                                                            \
  }

#define SOOTH_ATOMICS(bits, T)                                                                                       \
  SOOTH_EXPORT T __tsan_atomic##bits##_load(const volatile T* p, int order) { return load(p, order, SOOTH_CALLER); } \
  SOOTH_EXPORT void __tsan_atomic##bits##_store(volatile T* p, T v, int order) { store(p, v, order, SOOTH_CALLER); } \
  SOOTH_RMW(bits, T, exchange, (static_cast<void>(old), v))                                                          \
  SOOTH_RMW(bits, T, fetch_add, old + v)                                                                             \
  SOOTH_RMW(bits, T, fetch_sub, old - v)                                                                             \
  SOOTH_RMW(bits, T, fetch_and, old& v)                                                                              \
  SOOTH_RMW(bits, T, fetch_or, old | v)                                                                              \
  SOOTH_RMW(bits, T, fetch_xor, old ^ v)                                                                             \
  SOOTH_RMW(bits, T, fetch_nand, ~(old & v))                                                                         \
  SOOTH_CAS(bits, T, strong)                                                                                         \
  SOOTH_CAS(bits, T, weak)                                                                                           \
  SOOTH_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T desired, int success,       \
                                                            int failure) {                                           \
    compare_exchange(p, expected, desired, success, failure, SOOTH_CALLER);                                          \
    return expected;                                                                                                 \
  }

SOOTH_ATOMICS(8, a8)
SOOTH_ATOMICS(16, a16)
SOOTH_ATOMICS(32, a32)
SOOTH_ATOMICS(64, a64)
SOOTH_ATOMICS(128, a128)

SOOTH_EXPORT void __tsan_atomic_thread_fence(int order) { fence(order, SOOTH_CALLER); }
// Orders the thread with handlers of its own signals, which run in the same thread here: nothing to record.
SOOTH_EXPORT void __tsan_atomic_signal_fence(int) { asm volatile("" ::: "memory"); }
