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
SOOTH_INLINE void begin_access(Thread* t, Op op, const volatile void* p, u32 bytes, uptr pc, bool tries = false) {
  if (!recorder.serial) return;
  auto address = reinterpret_cast<uptr>(p);
  turn::step(t, {op, pc, address, bytes, tries});
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

// Runs `operation` (returns what the access read, or wrote for a store) and records it as `op`.
template <Op op, typename T, typename F>
SOOTH_INLINE T perform(const volatile T* p, int order, uptr pc, F operation) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(is_unrecorded(t))) return operation();
  begin_access(t, op, p, sizeof(T), pc);
  touch(p);
  T value;
  bool same = op == Op::kAtomicLoad;
  {
    Busy busy(t);
    SpinGuard guard(shard_of(p));
    value = operation();
    if (op == Op::kAtomicRmw && recorder.serial) same = machine_load(p) == value;
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

// A compare-exchange is a load when it fails, so what is recorded depends on what happened.
template <typename T>
SOOTH_INLINE bool compare_exchange(volatile T* p, T& expected, T desired, int success, int failure, uptr pc) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(is_unrecorded(t))) return machine_cas(p, expected, desired);
  begin_access(t, Op::kAtomicRmw, p, sizeof(T), pc, true);
  touch(p);
  bool done;
  {
    Busy busy(t);
    SpinGuard guard(shard_of(p));
    done = machine_cas(p, expected, desired);
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

void fence(int order, uptr pc) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  Thread* t = current();
  if (t == nullptr || !is_synchronisation_seen(t)) return;
  if (recorder.serial) turn::step(t, {Op::kFence, pc});
  write_event(t, pc, Shape::of(Op::kFence, order_of(order)), 0);
}

}  // namespace

void sooth::rt::restart_atomics_after_fork() {
  for (Shard& shard : shards_) shard.lock.reset();
}

void sooth::rt::release_through(u32* word, uptr pc) {
  perform<Op::kAtomicRmw>(word, __ATOMIC_RELEASE, pc, [&] { return machine_rmw(word, [](u32 old) { return old; }); });
}
void sooth::rt::acquire_through(const u32* word, uptr pc) {
  perform<Op::kAtomicLoad>(word, __ATOMIC_ACQUIRE, pc, [&] { return machine_load(word); });
}
void sooth::rt::acquire_through(const u64* word, uptr pc) {
  perform<Op::kAtomicLoad>(word, __ATOMIC_ACQUIRE, pc, [&] { return machine_load(word); });
}

#define SOOTH_RMW(bits, T, name, expression)                                                                           \
  SOOTH_EXPORT T __tsan_atomic##bits##_##name(volatile T* p, T v, int order) {                                         \
    return perform<Op::kAtomicRmw>(p, order, SOOTH_CALLER,                                                             \
                                   [&] { return machine_rmw(p, [&](T old) { return static_cast<T>(expression); }); }); \
  }

#define SOOTH_CAS(bits, T, strength)                                                                        \
  SOOTH_EXPORT int __tsan_atomic##bits##_compare_exchange_##strength(volatile T* p, T* expected, T desired, \
                                                                     int success, int failure) {            \
    T seen = *expected;                                                                                     \
    bool done = compare_exchange(p, seen, desired, success, failure, SOOTH_CALLER);                         \
    if (!done) store_seen(expected, seen, SOOTH_CALLER);                                                    \
    return done;                                                                                            \
  }

#define SOOTH_ATOMICS(bits, T)                                                                                 \
  SOOTH_EXPORT T __tsan_atomic##bits##_load(const volatile T* p, int order) {                                  \
    return perform<Op::kAtomicLoad>(p, order, SOOTH_CALLER, [&] { return machine_load(p); });                  \
  }                                                                                                            \
  SOOTH_EXPORT void __tsan_atomic##bits##_store(volatile T* p, T v, int order) {                               \
    perform<Op::kAtomicStore>(p, order, SOOTH_CALLER, [&] {                                                    \
      machine_store(p, v);                                                                                     \
      return v;                                                                                                \
    });                                                                                                        \
  }                                                                                                            \
  SOOTH_RMW(bits, T, exchange, (static_cast<void>(old), v))                                                    \
  SOOTH_RMW(bits, T, fetch_add, old + v)                                                                       \
  SOOTH_RMW(bits, T, fetch_sub, old - v)                                                                       \
  SOOTH_RMW(bits, T, fetch_and, old& v)                                                                        \
  SOOTH_RMW(bits, T, fetch_or, old | v)                                                                        \
  SOOTH_RMW(bits, T, fetch_xor, old ^ v)                                                                       \
  SOOTH_RMW(bits, T, fetch_nand, ~(old & v))                                                                   \
  SOOTH_CAS(bits, T, strong)                                                                                   \
  SOOTH_CAS(bits, T, weak)                                                                                     \
  SOOTH_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T desired, int success, \
                                                            int failure) {                                     \
    compare_exchange(p, expected, desired, success, failure, SOOTH_CALLER);                                    \
    return expected;                                                                                           \
  }

SOOTH_ATOMICS(8, a8)
SOOTH_ATOMICS(16, a16)
SOOTH_ATOMICS(32, a32)
SOOTH_ATOMICS(64, a64)
SOOTH_ATOMICS(128, a128)

SOOTH_EXPORT void __tsan_atomic_thread_fence(int order) { fence(order, SOOTH_CALLER); }
// Orders the thread with handlers of its own signals, which run in the same thread here: nothing to record.
SOOTH_EXPORT void __tsan_atomic_signal_fence(int) { asm volatile("" ::: "memory"); }
