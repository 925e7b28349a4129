// Puts records into the stream of a thread. The hot path of the library: an access is a hash, two compares and one store.
//
// A record is complete in memory before its first eight bytes are stored, and its first 16 bits are not zero: so whoever reads the
// mapping after the death of the process sees it whole or not at all.
#pragma once

#include "runtime/recorder.h"
#include "runtime/thread.h"

namespace sooth::rt {

// Room that a hook needs behind the cursor: the largest record, and a definition in front of it.
inline constexpr u32 kRecordRoom = 3 * stream::kMaxRecordBytes;

SOOTH_INLINE u32 slot_of(uptr pc, Shape shape) {
  u32 slot = static_cast<u32>(pc ^ (pc >> 11) ^ shape.bits * 37u) & (stream::kSlots - 1);
  return slot == 0 ? 1 : slot;
}

SOOTH_INLINE u64 slot_key(uptr pc, Shape shape) { return static_cast<u64>(pc) << 16 | shape.bits; }

SOOTH_INLINE u64 zigzag(u64 difference) {
  return (difference << 1) ^ static_cast<u64>(static_cast<std::int64_t>(difference) >> 63);
}

// Bytes needed for n: 0 to 6.
SOOTH_INLINE u32 byte_length(u64 n) {
  return n == 0 ? 0 : (71u - static_cast<u32>(__builtin_clzll(n))) >> 3;
}

// Fills the slot and writes its definition. False: the site is excluded, record nothing.
SOOTH_NOINLINE bool define_slot(Thread* t, u32 slot, uptr pc, Shape shape);
// The stack changed: writes the difference.
SOOTH_NOINLINE void write_stack(Thread* t);
// The long way of an access, for whatever Thread::special says. `stack` is the stack pointer of the accessing function.
SOOTH_NOINLINE void access_specially(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 size);

// One event that is no plain access. Ticketed in free-running recordings. `size` is for sized shapes.
// `value`: what an atomic access read (for a store: wrote); nullptr: unknown.
struct EventValue {
  u64 low, high;
};
void write_event(Thread* t, uptr pc, Shape shape, u64 object, u64 size = 0, const EventValue* value = nullptr);
// A plain access of any size, as libc functions and struct copies make them. Split when longer than 2^32 - 1.
void write_range(Thread* t, uptr pc, Op op, uptr address, u64 size);
void write_name(Thread* t, ObjectKind kind, u64 object, const char* name);
void write_thread_switch(Thread* t, u32 id, bool ticketed);
void write_turn(Thread* t);
// A write of a serial recording whose value was not known yet.
void write_pending(Thread* t);
// Lets a reader of a live recording see everything so far.
SOOTH_INLINE void publish(Thread* t) {
  auto* header = reinterpret_cast<stream::ChunkHeader*>(t->chunk);
  __atomic_store_n(&header->committed, static_cast<u32>(t->cursor - t->chunk), __ATOMIC_RELEASE);
}

// A synchronisation of the thread: what it accessed before may matter again.
SOOTH_INLINE void next_epoch(Thread* t) {
  t->epoch = (t->epoch + 1) & 15;
  if (SOOTH_UNLIKELY(t->epoch == 0)) zero_memory(t->repeats, sizeof t->repeats);
}

// A plain access of 1, 2, 4, 8 or 16 bytes.
SOOTH_INLINE void access(uptr address, uptr pc, Shape shape, uptr stack) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(t == nullptr)) return;
  if (SOOTH_UNLIKELY(t->special != 0)) {
    access_specially(t, address, pc, shape, stack, 0);
    return;
  }
  u32 slot = slot_of(pc, shape);
  Slot& s = t->slots[slot];
  if (SOOTH_UNLIKELY(s.key != slot_key(pc, shape))) {
    if (!define_slot(t, slot, pc, shape)) return;
  }
  u64 tag = static_cast<u64>(address) << 17 | slot << 4 | t->epoch;
  u64& seen = t->repeats[(address ^ (address >> 11) ^ slot) & (kRepeatEntries - 1)];
  if (seen == tag) return;
  seen = tag;
  u64 delta = zigzag(address - s.object);
  s.object = address;
  u32 length = byte_length(delta);
  u64 record = delta << 16 | length << stream::kSlotBits | slot;
  __builtin_memcpy(t->cursor, &record, 8);
  t->cursor += 2 + length;
  if (SOOTH_UNLIKELY(t->cursor > t->limit)) attend(t);
}

}  // namespace sooth::rt
