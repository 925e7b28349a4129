// Puts records into the stream of a thread. The hot path of the library: an access is a hash, two compares and one
// store.
//
// What lies behind the cursor is zero. The rest of a record is in memory before its first 16 bits, which are not zero:
// so whoever reads the mapping after the death of the process sees it whole or not at all.
#pragma once

#include "runtime/control.h"
#include "runtime/ownership.h"
#include "runtime/record_builder.h"
#include "runtime/recorder.h"
#include "runtime/thread.h"

namespace sooth::rt {

// Room that a hook needs behind the cursor: the largest record, and a definition in front of it.
inline constexpr u32 kRecordRoom = 3 * stream::kMaxRecordBytes;

// Where the definition of an event's shape at a program counter belongs. The program counter and the slot tell the
// shape, so that a slot's key need not: see Slot. Slot 0 does not exist.
SOOTH_INLINE u32 slot_of(uptr pc, Shape shape) {
  static_assert(Shape::kBits <= stream::kSlotBits);
  return static_cast<u32>(pc ^ shape.bits) & (stream::kSlots - 1);
}

// Where it is if it is not there, because another one was there before: one of a few other slots, the long way. Two sites
// that take turns would else define the slot again each time, and forget what was accessed before.
inline constexpr u32 kOtherSlots = 4;
SOOTH_INLINE u32 other_slot(u32 home, u32 i) {
  constexpr u32 kStride = 1451;  // sites that lie close together have slots that do
  return (home + i * kStride) & (stream::kSlots - 1);
}
// The key there, which tells the shape, too.
SOOTH_INLINE u64 displaced_key(uptr pc, Shape shape) { return pc | u64{shape.bits} << 48 | kDisplaced; }

// The slot that is defined for a shape at a program counter, or, if there is none, the one to define.
struct Place {
  u32 slot;
  bool is_defined;
  u64 key;
};
Place find_slot(const Thread* t, uptr pc, Shape shape);

SOOTH_INLINE u64 zigzag(u64 difference) {
  return (difference << 1) ^ static_cast<u64>(static_cast<std::int64_t>(difference) >> 63);
}

// Whether an object is so far from the prediction that the slot must be defined again.
SOOTH_INLINE bool is_far(const Slot& s, u64 object) { return zigzag(object - s.next) >> 48 != 0; }

// The object came, and is so much more than the prediction: loops walk memory in equal steps, so this is 0 mostly.
SOOTH_INLINE void move_slot(Slot& s, u64 object, u64 difference) {
  s.step += difference;
  s.next = object + s.step;
}

// What to send for the object, and the slot moves on. False: it is too far from the prediction, and nothing changed. A
// slot that is defined again predicts 0, from which nothing is too far.
SOOTH_INLINE bool slot_delta(Slot& s, u64 object, u64& delta) {
  u64 difference = object - s.next;
  delta = zigzag(difference);
  if (SOOTH_UNLIKELY(delta >> 48 != 0)) return false;
  move_slot(s, object, difference);
  return true;
}

// Bytes needed for n < 2^48: 0 to 6. Without a branch for 0.
SOOTH_INLINE u32 byte_length(u64 n) { return (70u - static_cast<u32>(__builtin_clzll(2 * n + 1))) >> 3; }

// An access in Thread::repeats. The product tells all 60 bits of slot and address apart, and its low 4 are 0: its top
// bits choose the entry, the others and the epoch are what stands there.
struct Repeat {
  SOOTH_INLINE Repeat(Thread* t, u32 slot, uptr address)
      : Repeat(t, (address + (u64{slot} << 47)) * (u64{16} * 0x9e3779b97f4a7c15)) {}

  u64& entry;
  u64 tag;

 private:
  SOOTH_INLINE Repeat(Thread* t, u64 product)
      : entry(t->repeats[product >> (64 - kRepeatBits)]), tag(product << kRepeatBits | t->epoch) {}
};

// Fills the slot that find_slot() has found and writes its definition. False: the site is excluded, record nothing.
SOOTH_NOINLINE bool define_slot(Thread* t, const Place& place, uptr pc, Shape shape);
// The stack changed: writes the difference.
void write_stack(Thread* t);
// The long way of an access, for whatever Thread::special says. `stack` is the stack pointer of the accessing function.
SOOTH_NOINLINE void access_specially(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 size);

// Of an access that an annotation keeps out of the recording: it counts for whose turn it is all the same, because a loop
// of such accesses may wait for another thread.
void pass_over(Thread* t);

// The same when special is kStackChanged and nothing else, and the slot is defined.
void access_after_call(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot);

// The same when the slot that the shape would have by itself is not its own.
SOOTH_NOINLINE void access_displaced(Thread* t, uptr address, uptr pc, Shape shape, uptr stack);

// An access of a thread with a Tree that Thread::repeats does not know.
void access_filtered(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot);

struct EventValue {
  u64 low, high;
};

SOOTH_INLINE EventValue read_memory(uptr address, u32 size) {
  EventValue v{0, 0};
  switch (size) {
    case 1: v.low = *reinterpret_cast<const volatile u8*>(address); break;
    case 2: {
      u16 x;
      __builtin_memcpy(&x, reinterpret_cast<const void*>(address), 2);
      v.low = x;
      break;
    }
    case 4: {
      u32 x;
      __builtin_memcpy(&x, reinterpret_cast<const void*>(address), 4);
      v.low = x;
      break;
    }
    case 8: __builtin_memcpy(&v.low, reinterpret_cast<const void*>(address), 8); break;
    case 16:
      __builtin_memcpy(&v.low, reinterpret_cast<const void*>(address), 8);
      __builtin_memcpy(&v.high, reinterpret_cast<const void*>(address + 8), 8);
      break;
    default: break;
  }
  return v;
}

template <unsigned size, bool is_write>
constexpr Shape serial_shape() {
  return Shape::of(is_write ? Op::kWrite : Op::kRead, MemoryOrder::kNotAtomic, size);
}

// The same when special is kSerialMode and nothing else: an access with its value. At most 8 bytes.
// For each size and direction its own, because most of the work depends on them.
template <unsigned size, bool is_write>
void access_serially(Thread* t, uptr address, uptr pc);

SOOTH_INLINE void access_serially(Thread* t, uptr address, uptr pc, Shape shape) {
  bool writes = shape.op() == Op::kWrite;
  switch (shape.size()) {
    case 1: return writes ? access_serially<1, true>(t, address, pc) : access_serially<1, false>(t, address, pc);
    case 2: return writes ? access_serially<2, true>(t, address, pc) : access_serially<2, false>(t, address, pc);
    case 4: return writes ? access_serially<4, true>(t, address, pc) : access_serially<4, false>(t, address, pc);
    default: return writes ? access_serially<8, true>(t, address, pc) : access_serially<8, false>(t, address, pc);
  }
}

// An access of 1 to 8 bytes, written by code outside the program: engine.cc. False: it cannot be, and nothing was done.
bool write_access_natively(Thread* t, uptr address, uptr pc, Shape shape);

// One event that is no plain access. Ticketed in free-running recordings. `size` is for sized shapes.
// `value`: what an atomic access read (for a store: wrote); nullptr: unknown.
void write_event(Thread* t, uptr pc, Shape shape, u64 object, u64 size = 0, const EventValue* value = nullptr);
// A plain access of any size, as libc functions and struct copies make them. Split when longer than 2^32 - 1.
void write_range(Thread* t, uptr pc, Op op, uptr address, u64 size);
void write_name(Thread* t, ObjectKind kind, u64 object, const char* name);
void write_thread_switch(Thread* t, u32 id, bool ticketed);
void write_turn(Thread* t);
// Where the thread has the variables that are its own.
void write_thread_pointer(Thread* t);
// A kHappensBefore at `site`, the number of kNoSite. By the thread, or by whoever takes the turn away from it: no lock, no libc.
void put_message(Thread* t, u64 message, u32 site);
// A write of a serial recording whose value was not known yet. Waits for the turn first if it was taken away: then the
// write is written already.
void write_pending(Thread* t);
// The same without looking for the turn, for whoever takes it away. No lock, no libc.
void write_pending_now(Thread* t);
// The same without reading memory: the write faulted, or its page is about to go away.
void write_pending_unknown(Thread* t);
// Lets a reader of a live recording see everything so far.
SOOTH_INLINE void publish(Thread* t) {
  auto* header = reinterpret_cast<stream::ChunkHeader*>(t->chunk);
  __atomic_store_n(&header->committed, static_cast<u32>(t->cursor - t->chunk), __ATOMIC_RELEASE);
  t->run_end = nullptr;
}

// A synchronisation of the thread: what it accessed before may matter again. Epoch 0 is that of entries that nobody has
// written.
SOOTH_INLINE void next_epoch(Thread* t) {
  if (SOOTH_LIKELY(++t->epoch < kEpochs)) return;
  zero_memory(t->repeats, sizeof t->repeats);
  t->epoch = 1;
}

// Writes an access through its slot, which must be defined, when its address is not the one that was predicted.
__attribute__((noinline)) void write_unpredicted(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot);

// Writes an access through its slot, which must be defined. Whatever is long is a call in tail position, so that
// nothing is saved across it.
SOOTH_INLINE void write_access(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot) {
  Slot& s = t->slots[slot];
  if (address != s.next) return write_unpredicted(t, address, pc, shape, stack, slot);
  s.next += s.step;
  u8* cursor = t->cursor;
  u64 record = slot;
  __builtin_memcpy(cursor, &record, 8);
  t->cursor = cursor += 2;
  if (SOOTH_UNLIKELY(cursor > t->limit)) return attend(t);
}

// An access of a controlled run: control.h.
SOOTH_INLINE void access_controlled(Thread* t, uptr address, uptr pc, Shape shape) {
  controlled::access(t, address, pc, shape.op(), shape.size());
}

// A plain access of 1, 2, 4, 8 or 16 bytes.
SOOTH_INLINE void access(uptr address, uptr pc, Shape shape, uptr stack) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(t == nullptr)) return;
  u32 slot = slot_of(pc, shape);
  if (SOOTH_UNLIKELY(t->special != 0) || SOOTH_UNLIKELY(t->slots[slot].key != pc)) {
    if ((t->special & kControlled) != 0) return access_controlled(t, address, pc, shape);
    if ((t->special & ~kStackChanged) == kSerialMode &&
        ownership::is_left_out(t, address, shape.size(), shape.op() == Op::kWrite))
      return;
    if (t->special == kSerialMode && shape.size() <= 8) return access_serially(t, address, pc, shape);
    if ((t->special & ~kStackChanged) == 0) {
      if (t->slots[slot].key == pc) return access_after_call(t, address, pc, shape, stack, slot);
      return access_displaced(t, address, pc, shape, stack);
    }
    return access_specially(t, address, pc, shape, stack, 0);
  }
  Repeat repeat(t, slot, address);
  if (repeat.entry == repeat.tag) return;
  repeat.entry = repeat.tag;
  if (SOOTH_UNLIKELY(t->tree != nullptr)) return access_filtered(t, address, pc, shape, stack, slot);
  write_access(t, address, pc, shape, stack, slot);
}

// Whether nothing but the access itself needs care: the thread has the turn and keeps it, no write waits, and the slot
// is defined.
SOOTH_INLINE bool is_undisturbed(const Thread* t, uptr pc, Shape shape) {
  return __atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) == 0 && t->pending_slot == 0 && t->quantum != 1 &&
         t->slots[slot_of(pc, shape)].key == pc;
}

// What access() does, for hooks of code that was built to be recorded serially. Reads of loops are mostly what the one
// of the last round says: nothing else is done here, and without saving a register.
template <unsigned size, bool is_write>
SOOTH_INLINE void access_deeply(uptr address, uptr pc, uptr stack) {
  constexpr Shape shape = serial_shape<size, is_write>();
  Thread* t = current();
  if (SOOTH_UNLIKELY(t == nullptr)) return;
  if (SOOTH_UNLIKELY(t->special != kSerialMode)) return access(address, pc, shape, stack);
  if constexpr (!is_write) {
    if (SOOTH_UNLIKELY(!is_undisturbed(t, pc, shape))) return access_serially<size, is_write>(t, address, pc);
    u32 slot = slot_of(pc, shape);
    Slot& s = t->slots[slot];
    u64 value = read_memory(address, size).low;
    if (((address ^ s.next) | (value ^ remembered(t, address))) == 0 && is_expected(t, slot)) {
      --t->quantum;
      s.next += s.step;
      put_expected(t, slot);
      if (SOOTH_UNLIKELY(t->cursor > t->limit)) attend(t);
      return;
    }
  }
  return access_serially<size, is_write>(t, address, pc);
}

}  // namespace sooth::rt
