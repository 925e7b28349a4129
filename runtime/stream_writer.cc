#include "runtime/stream_writer.h"

#include "runtime/benign.h"
#include "runtime/calls.h"
#include "runtime/control.h"
#include "runtime/engine.h"
#include "runtime/modules.h"
#include "runtime/record_builder.h"
#include "runtime/tree.h"
#include "runtime/turn.h"

namespace sooth::rt {
namespace {

using stream::Record;

constexpr u16 escape(Record record) {
  return static_cast<u16>(stream::kEscapeCode << stream::kSlotBits | static_cast<unsigned>(record));
}

SOOTH_INLINE bool is_ticketed(Shape shape) {
  return !recorder.serial && shape.op() != Op::kRead && shape.op() != Op::kWrite;
}

SOOTH_INLINE void put_value(Builder& b, Thread* t, u32 slot, const EventValue* value) {
  if (value == nullptr) {
    b.put8(stream::kNoValue);
    return;
  }
  u64* last = t->values + 2 * slot;
  u64 low = value->low ^ last[0];
  u64 high = value->high ^ last[1];
  last[0] = value->low;
  last[1] = value->high;
  u32 low_bytes = high != 0 ? 8 : full_length(low);
  u32 high_bytes = full_length(high);
  b.put8(static_cast<u8>(low_bytes + high_bytes));
  b.put_bytes(low, low_bytes);
  b.put_bytes(high, high_bytes);
}

void put_definition(Thread* t, const Place& place, Shape shape, u32 site);

}  // namespace

Place find_slot(const Thread* t, uptr pc, Shape shape) {
  u32 home = slot_of(pc, shape);
  if (SOOTH_LIKELY(home != 0 && t->slots[home].key == pc)) return {home, true, pc};
  u64 key = displaced_key(pc, shape);
  u32 empty = home != 0 && t->slots[home].key == 0 ? home : 0;
  for (u32 i = 1; i <= kOtherSlots; ++i) {
    u32 slot = other_slot(home, i);
    if (t->slots[slot].key == key && slot != 0) return {slot, true, key};
    if (empty == 0 && t->slots[slot].key == 0) empty = slot;
  }
  // Slots are taken from others only where there is no room.
  if (empty == 0) empty = home != 0 ? home : other_slot(home, 1);
  return {empty, false, empty == home ? pc : key};
}

bool define_slot(Thread* t, const Place& place, uptr pc, Shape shape) {
  if (t->generation != module_generation()) {
    // A module was unloaded: its addresses may name other code now.
    zero_memory(t->slots, sizeof t->slots);
    next_epoch(t);
    t->generation = module_generation();
    if (t->tree != nullptr) tree::forget_contexts(t->tree);
  }
  u32 site = intern_site(pc);
  if (site == ~0u) return false;
  put_definition(t, place, shape, site);
  return true;
}

namespace {

void put_definition(Thread* t, const Place& place, Shape shape, u32 site) {
  u32 slot = place.slot;
  // Accesses that were seen through the slot's former shape must not hide ones through this.
  u64 former = t->slots[slot].key;
  if (former != 0 && former != place.key) next_epoch(t);
  t->slots[slot] = {place.key, 0, 0};
  if (recorder.serial) t->values[2 * slot] = t->values[2 * slot + 1] = 0;
  Builder b(t, escape(Record::kDefine));
  b.put16(static_cast<u16>(slot));
  b.put8(static_cast<u8>(shape.op()));
  b.put8(static_cast<u8>(shape.order()));
  b.put8(shape.flags());
  b.put8(static_cast<u8>((is_ticketed(shape) ? stream::kTicketed : 0) | (shape.is_sized() ? stream::kSized : 0)));
  b.put_varint(shape.size());
  b.put_varint(site);
  b.commit();
}

}  // namespace

void write_stack(Thread* t) {
  t->special &= ~kStackChanged;
  Frame* low = t->low < t->written ? t->low : t->written;
  u32 pops = static_cast<u32>(t->written - low);
  while (pops != 0 || low != t->top) {
    // A few frames a record: a record must fit into the room that hooks leave.
    Builder b(t, escape(Record::kStack));
    u32 pushes = static_cast<u32>(t->top - low);
    if (pushes > 8) pushes = 8;
    b.put_varint(pops);
    b.put_varint(pushes);
    for (u32 i = 0; i < pushes; ++i) {
      u32 site = intern_site(shown_call(low[i].call));
      b.put_varint(site == ~0u ? 0 : site);
    }
    b.commit();
    low += pushes;
    pops = 0;
    if (t->cursor > t->limit) attend(t);
  }
  if (t->placed > t->low) t->placed = t->low;
  t->low = t->written = t->top;
}

namespace {

// The canonical frame address of a function: its return address lies right below. 0 when that is not found, which is so
// in functions that were jumped to.
uptr frame_address(const Thread* t, const Frame* f) {
  constexpr uptr kFarthest = 64 * 1024;
  uptr end = f->stack + kFarthest;
  if (f > t->bottom && f[-1].stack < end) end = f[-1].stack;
  if (t->stack_end > f->stack && t->stack_end < end) end = t->stack_end;
  for (uptr at = f->stack & ~uptr{7}; at + sizeof(uptr) <= end; at += sizeof(uptr))
    if (*reinterpret_cast<const volatile uptr*>(at) == f->call + 1) return at + sizeof(uptr);
  return 0;
}

// Others learn of variables on this thread's stack when it starts them or tells them something: not at locks and
// atomics, where it would cost too much.
SOOTH_INLINE bool hands_out_pointers(Op op) {
  return op == Op::kFork || op == Op::kNotify || op == Op::kCondNotify || op == Op::kSemPost ||
         op == Op::kHappensBefore || op == Op::kBarrierArrive;
}

// Says of the functions on the stack where their frames are, as far as that is not known yet.
SOOTH_NOINLINE void write_frames(Thread* t) {
  for (; t->placed < t->top; ++t->placed) {
    uptr address = frame_address(t, t->placed);
    u32 site = address == 0 ? ~0u : intern_frame(t->placed->pc);
    if (site == ~0u) continue;
    Builder b(t, escape(Record::kFrame));
    b.put_varint(static_cast<u64>(t->placed - t->bottom) + 1);
    b.put_varint(site);
    b.put_varint(address);
    b.commit();
    if (t->cursor > t->limit) attend(t);
  }
}

SOOTH_INLINE void set_pending(Thread* t, u32 slot, u32 size, uptr address, u32 length, u64 delta) {
  t->pending_slot = slot;
  t->pending_size = size;
  t->pending_object = address;
  t->pending_code = length;
  t->pending_delta = delta;
}

// One access with a delta of at most 5 bytes and its value of at most 8 bytes, in two stores: the tail first. They
// overlap: the head also has what of the value lies in its eight bytes, so that where the value begins makes no
// difference.
SOOTH_INLINE void put_short_access(Thread* t, u32 slot, uptr address, u64 delta, u32 length, u64 value) {
  u64& known = remembered(t, address);
  if ((delta | (value ^ known)) == 0 && is_expected(t, slot)) return put_expected(t, slot);
  known = value;
  follow(t, slot);
  u64& last = t->values[2 * slot];
  u64 change = value ^ last;
  last = value;
  u32 n = full_length(change);
  u32 at = 2 + length;
  u64 head = (delta << 16 | length << stream::kSlotBits | slot) | (change << 8 | n) << 8 * at;
  u8* cursor = t->cursor;
  __builtin_memcpy(cursor + at + 1, &change, 8);
  asm volatile("" ::: "memory");
  __builtin_memcpy(cursor, &head, 8);
  t->cursor = cursor + at + 1 + n;
}

SOOTH_INLINE void put_access(Thread* t, u32 slot, uptr address, u64 delta, u32 length, u64 value) {
  if (SOOTH_LIKELY(length <= 5)) return put_short_access(t, slot, address, delta, length, value);
  // The length of the value lies behind the head.
  Builder b(t, static_cast<u16>(length << stream::kSlotBits | slot));
  b.put_bytes(delta, length);
  EventValue v{value, 0};
  put_value(b, t, slot, &v);
  b.commit();
  remembered(t, address) = value;
  follow(t, slot);
}

// The pending write itself, of 16 bytes; nullptr: of any size, with a value that nobody knows.
void put_pending_with(Thread* t, u32 slot, const EventValue* value) {
  Builder b(t, static_cast<u16>(t->pending_code << stream::kSlotBits | slot));
  b.put_bytes(t->pending_delta, t->pending_code);
  put_value(b, t, slot, value);
  b.commit();
  follow(t, slot);
}

// The read that waited for the pending write.
SOOTH_INLINE void put_deferred(Thread* t) {
  if (t->deferred_slot == 0) return;
  put_access(t, t->deferred_slot, t->deferred_object, t->deferred_delta, t->deferred_code, t->deferred_value);
  t->deferred_slot = 0;
}

// A write that waited for its value, which by now is in memory, and the read that waited for the write.
SOOTH_INLINE void put_pending(Thread* t) {
  u32 slot = t->pending_slot;
  if (SOOTH_UNLIKELY(t->pending_without_value)) return write_pending_unknown(t);
  EventValue value = read_memory(t->pending_object, t->pending_size);
  t->pending_slot = 0;
  if (SOOTH_LIKELY(t->pending_size <= 8))
    put_access(t, slot, t->pending_object, t->pending_delta, t->pending_code, value.low);
  else
    put_pending_with(t, slot, &value);
  put_deferred(t);
}

}  // namespace

void write_pending(Thread* t) {
  turn::hold(t);
  write_pending_now(t);
}

void write_pending_now(Thread* t) {
  if (t->pending_slot != 0) put_pending(t);
}

void write_pending_unknown(Thread* t) {
  u32 slot = t->pending_slot;
  if (slot == 0) return;
  t->pending_slot = 0;
  t->pending_without_value = false;
  put_pending_with(t, slot, nullptr);
  put_deferred(t);
}

void put_message(Thread* t, u64 message, u32 site) {
  constexpr Shape shape = Shape::of(Op::kHappensBefore);
  Place place = find_slot(t, kNoSite, shape);
  u32 slot = place.slot;
  Slot& s = t->slots[slot];
  if (!place.is_defined || is_far(s, message)) put_definition(t, place, shape, site);
  u64 delta = 0;
  slot_delta(s, message, delta);
  u32 length = byte_length(delta);
  Builder b(t, static_cast<u16>(length << stream::kSlotBits | slot));
  b.put_bytes(delta, length);
  b.commit();
  follow(t, slot);
  t->run_end = nullptr;
}

namespace {

// A write to a granule, of a value that nobody needs to know.
__attribute__((noinline)) void restate(Thread* t, uptr granule, uptr pc) {
  constexpr Shape shape = serial_shape<8, true>();
  write_pending(t);
  if ((t->special & kStackChanged) != 0) write_stack(t);
  Place place = find_slot(t, pc, shape);
  u32 slot = place.slot;
  Slot& s = t->slots[slot];
  u64 delta = 0;
  if (!place.is_defined && !define_slot(t, place, pc, shape)) return;
  if (!slot_delta(s, granule, delta) && define_slot(t, place, pc, shape)) slot_delta(s, granule, delta);
  set_pending(t, slot, 8, granule, byte_length(delta), delta);
  write_pending_unknown(t);
  if (t->cursor > t->limit) attend(t);
}

// What ownership.h says of an access; true: there is nothing more to write.
SOOTH_INLINE bool is_told(Thread* t, uptr address, uptr pc, u64 size, bool is_write, ownership::Verdict& verdict) {
  if (ownership::state.cells == nullptr) return false;
  verdict = ownership::touch(t, address, size, is_write);
  if (verdict == ownership::Verdict::kLeaveOut) {
    ++t->left_out;
    heed(t);
    return true;
  }
  if (SOOTH_LIKELY(verdict != ownership::Verdict::kRestate)) return false;
  restate(t, address & ~uptr{7}, pc);
  ++t->left_out;  // it covers bytes that the program did not write: others must be behind it in any case
  return true;
}

// The slot could not be defined: its site is left out.
void skip_access(Thread* t, uptr pc, uptr address, u64 size) {
  if (recorder.watches_calls) calls::left_out(t, pc, address, size);
  heed(t);
}

// The long way: the turn was taken away or is to be given up, a write waits for its value, or the slot has to be
// defined.
template <unsigned size, bool is_write>
__attribute__((noinline)) void access_in_turn(Thread* t, uptr address, uptr pc) {
  constexpr Shape shape = serial_shape<size, is_write>();
  turn::hold(t);
  bool waits = false;
  if (t->pending_slot != 0) {
    waits = !is_write && t->deferred_slot == 0 && find_slot(t, pc, shape).is_defined;
    if (!waits) put_pending(t);
  }
  // Before the value is read: another thread may change it. Not between the two halves of a copy: the write has not
  // happened yet.
  if (SOOTH_UNLIKELY(--t->quantum == 0)) {
    if (waits)
      t->quantum = 1;
    else
      turn::preempt(t);
  }
  ownership::Verdict verdict = ownership::Verdict::kRecord;
  if (is_told(t, address, pc, size, is_write, verdict)) return;
  waits = waits && t->pending_slot != 0;  // another thread's mark may have come behind it
  Place place = find_slot(t, pc, shape);
  u32 slot = place.slot;
  Slot& s = t->slots[slot];
  if (SOOTH_UNLIKELY(!place.is_defined) && !define_slot(t, place, pc, shape)) return skip_access(t, pc, address, size);
  // Before the slot moves on: the handler of a fault here may never return.
  u64 value = is_write ? 0 : read_memory(address, size).low;
  u64 delta;
  if (SOOTH_UNLIKELY(!slot_delta(s, address, delta))) {
    if (waits) put_pending(t);
    waits = false;
    if (!define_slot(t, place, pc, shape)) return heed(t);
    slot_delta(s, address, delta);
  }
  u32 length = byte_length(delta);
  if constexpr (is_write) {
    set_pending(t, slot, size, address, length, delta);
    t->pending_without_value = verdict == ownership::Verdict::kWithoutValue;
  } else if (waits) {
    t->deferred_slot = slot;
    t->deferred_code = length;
    t->deferred_object = address;
    t->deferred_delta = delta;
    t->deferred_value = value;
  } else {
    put_access(t, slot, address, delta, length, value);
  }
  if (SOOTH_UNLIKELY(t->cursor > t->limit)) attend(t);
}

}  // namespace

template <unsigned size, bool is_write>
void access_serially(Thread* t, uptr address, uptr pc) {
  constexpr Shape shape = serial_shape<size, is_write>();
  if (SOOTH_UNLIKELY(!is_undisturbed(t, pc, shape))) return access_in_turn<size, is_write>(t, address, pc);
  // Whatever is not all of one granule, or has to be said in other words, goes the long way.
  u32 slot = slot_of(pc, shape);
  if (ownership::state.cells != nullptr && !ownership::is_simple(t, address, size))
    return access_in_turn<size, is_write>(t, address, pc);
  Slot& s = t->slots[slot];
  // Before the slot moves on: the handler of a fault here may never return.
  u64 value = is_write ? 0 : read_memory(address, size).low;
  u64 difference = address - s.next;
  u64 delta = zigzag(difference);
  if (SOOTH_UNLIKELY(delta >> 40 != 0)) return access_in_turn<size, is_write>(t, address, pc);
  --t->quantum;
  move_slot(s, address, difference);
  u32 length = byte_length(delta);
  if constexpr (is_write)
    set_pending(t, slot, size, address, length, delta);
  else
    put_short_access(t, slot, address, delta, length, value);
  if (SOOTH_UNLIKELY(t->cursor > t->limit)) attend(t);
}

template void access_serially<1, false>(Thread*, uptr, uptr);
template void access_serially<2, false>(Thread*, uptr, uptr);
template void access_serially<4, false>(Thread*, uptr, uptr);
template void access_serially<8, false>(Thread*, uptr, uptr);
template void access_serially<1, true>(Thread*, uptr, uptr);
template void access_serially<2, true>(Thread*, uptr, uptr);
template void access_serially<4, true>(Thread*, uptr, uptr);
template void access_serially<8, true>(Thread*, uptr, uptr);

// Whether the stack can be written without asking libc for a module.
static bool is_stack_known(const Thread* t) {
  if ((t->special & kStackChanged) == 0) return true;
  const Frame* low = t->low < t->written ? t->low : t->written;
  if (t->top - low > 8) return false;
  for (const Frame* f = low; f < t->top; ++f)
    if (!is_known_site(shown_call(f->call))) return false;
  return true;
}

// Of a free-running recording.
static bool write_free_natively(Thread* t, uptr address, uptr pc, Shape shape) {
  u32 slot = slot_of(pc, shape);
  if (t->slots[slot].key != pc || t->tree != nullptr) return false;
  Repeat repeat(t, slot, address);
  if (repeat.entry == repeat.tag) return true;
  if (is_far(t->slots[slot], address) || !is_stack_known(t)) return false;
  repeat.entry = repeat.tag;
  if ((t->special & kStackChanged) != 0) write_stack(t);
  write_access(t, address, pc, shape, 0, slot);
  return true;
}

// Its records have room in front of the limit, so that nothing here calls attend().
bool write_access_natively(Thread* t, uptr address, uptr pc, Shape shape) {
  if (t->pending_signals != 0 || t->limit == nullptr || t->cursor + kRecordRoom > t->limit) return false;
  if ((t->special & ~kStackChanged) == 0) return write_free_natively(t, address, pc, shape);
  if ((t->special & ~kStackChanged) != kSerialMode || t->quantum <= 1 ||
      __atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) != 0)
    return false;
  if (ownership::is_left_out(t, address, shape.size(), shape.op() == Op::kWrite)) return true;
  u32 slot = slot_of(pc, shape);
  Slot& s = t->slots[slot];
  if (slot == 0 || s.key != pc || is_far(s, address) || !is_stack_known(t)) return false;
  if (ownership::state.cells != nullptr && !ownership::is_simple(t, address, shape.size())) return false;
  if (t->pending_slot != 0) put_pending(t);
  if ((t->special & kStackChanged) != 0) write_stack(t);
  --t->quantum;
  u64 delta = 0;
  slot_delta(s, address, delta);
  u32 length = byte_length(delta);
  if (shape.op() == Op::kWrite)
    set_pending(t, slot, shape.size(), address, length, delta);
  else
    put_access(t, slot, address, delta, length, read_memory(address, shape.size()).low);
  return true;
}

void write_unpredicted(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot) {
  Slot& s = t->slots[slot];
  u64 difference = address - s.next;
  u64 delta = zigzag(difference);                                    // not 0
  u32 more = (63u - static_cast<u32>(__builtin_clzll(delta))) >> 3;  // bytes but one
  if (SOOTH_UNLIKELY(more > 5)) {
    Repeat(t, slot, address).entry = 0;
    return access_specially(t, address, pc, shape, stack, 0);
  }
  move_slot(s, address, difference);
  u64 record = delta << 16 | (more + 1) << stream::kSlotBits | slot;
  u8* cursor = t->cursor;
  __builtin_memcpy(cursor, &record, 8);
  t->cursor = cursor += more + 3;
  if (SOOTH_UNLIKELY(cursor > t->limit)) return attend(t);
}

void access_after_call(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot) {
  // Before the stack is written: a function that does nothing new leaves no trace at all.
  Repeat repeat(t, slot, address);
  if (repeat.entry == repeat.tag) return;
  if (SOOTH_UNLIKELY(is_far(t->slots[slot], address))) return access_specially(t, address, pc, shape, stack, 0);
  repeat.entry = repeat.tag;
  if (t->tree != nullptr && tree::remembers(t->tree, address, pc, shape)) return;
  write_stack(t);
  write_access(t, address, pc, shape, stack, slot);
}

void access_displaced(Thread* t, uptr address, uptr pc, Shape shape, uptr stack) {
  Place place = find_slot(t, pc, shape);
  if (!place.is_defined) return access_specially(t, address, pc, shape, stack, 0);
  if ((t->special & kStackChanged) != 0) return access_after_call(t, address, pc, shape, stack, place.slot);
  Repeat repeat(t, place.slot, address);
  if (repeat.entry == repeat.tag) return;
  repeat.entry = repeat.tag;
  if (t->tree != nullptr) return access_filtered(t, address, pc, shape, stack, place.slot);
  write_access(t, address, pc, shape, stack, place.slot);
}

void access_filtered(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 slot) {
  // The long way asks again, so this must be known before the access is remembered.
  if (SOOTH_UNLIKELY(is_far(t->slots[slot], address))) {
    Repeat(t, slot, address).entry = 0;
    return access_specially(t, address, pc, shape, stack, 0);
  }
  if (!tree::remembers(t->tree, address, pc, shape)) write_access(t, address, pc, shape, stack, slot);
}

void pass_over(Thread* t) {
  if ((t->special & kControlled) != 0) {
    while (t->quantum <= 1) turn::preempt(t);
    --t->quantum;
  } else if ((t->special & kSerialMode) != 0) {
    write_pending(t);
    if (--t->quantum == 0) turn::preempt(t);
  }
  heed(t);
}

void access_specially(Thread* t, uptr address, uptr pc, Shape shape, uptr stack, u32 size) {
  u32 special = t->special;
  if ((special & kControlled) != 0)
    return controlled::access(t, address, pc, shape.op(), shape.is_sized() ? size : shape.size());
  if ((special & kStopped) != 0) return heed(t);
  bool is_write = shape.op() == Op::kWrite;
  if ((special & (is_write ? kIgnoreWrites : kIgnoreReads)) != 0) return pass_over(t);
  if ((special & kIgnoreMemory) != 0 && is_ignored_memory(address)) return pass_over(t);
  if ((special & kInCall) != 0) calls::happened(t, pc);
  if ((special & kSerialMode) != 0) {
    write_pending(t);
    // Before the value is read: another thread may change it.
    if (--t->quantum == 0) turn::preempt(t);
  }
  if (SOOTH_UNLIKELY(recorder.under_engine)) engine::drop_call(t, pc);
  if ((special & kJumped) != 0) {
    t->special &= ~kJumped;
    while (t->top > t->frames && t->top[-1].stack < stack) --t->top;
    if (t->top < t->low) t->low = t->top;
    t->special |= kStackChanged;
    if (t->call_frame != nullptr) calls::left(t);
  }
  ownership::Verdict verdict = ownership::Verdict::kRecord;
  if ((special & kSerialMode) != 0 &&
      is_told(t, address, pc, shape.is_sized() ? size : shape.size(), is_write, verdict))
    return;
  // Before the stack is written: a function that does nothing new leaves no trace at all.
  if (t->tree != nullptr && !shape.is_sized() && tree::remembers(t->tree, address, pc, shape)) return;
  if ((t->special & kStackChanged) != 0) write_stack(t);
  Place place = find_slot(t, pc, shape);
  u32 slot = place.slot;
  Slot& s = t->slots[slot];
  if (!place.is_defined && !define_slot(t, place, pc, shape))
    return skip_access(t, pc, address, shape.is_sized() ? size : shape.size());
  if ((special & (kSerialMode | kKeepRepeats)) == 0 && !shape.is_sized()) {
    Repeat repeat(t, slot, address);
    if (repeat.entry == repeat.tag) return heed(t);
    repeat.entry = repeat.tag;
  }
  // Before the slot moves on: the handler of a fault here may never return.
  EventValue value{0, 0};
  if ((special & kSerialMode) != 0 && !is_write && !shape.is_sized()) value = read_memory(address, shape.size());
  u64 delta = 0;
  if (!slot_delta(s, address, delta) && define_slot(t, place, pc, shape)) slot_delta(s, address, delta);
  u32 length = byte_length(delta);
  if ((special & kSerialMode) != 0 && is_write && !shape.is_sized()) {
    set_pending(t, slot, shape.size(), address, length, delta);
    t->pending_without_value = verdict == ownership::Verdict::kWithoutValue;
    if (t->cursor > t->limit) attend(t);
    return;
  }
  Builder b(t, static_cast<u16>(length << stream::kSlotBits | slot));
  b.put_bytes(delta, length);
  if (shape.is_sized()) b.put_varint(size);
  if ((special & kSerialMode) != 0) {
    if (shape.is_sized()) {
      if (size <= 16) b.put8(stream::kNoValue);
    } else {
      put_value(b, t, slot, &value);
    }
  }
  b.commit();
  if ((special & kSerialMode) != 0) {
    follow(t, slot);
    if (!shape.is_sized() && shape.size() <= 8) remembered(t, address) = value.low;
  }
  if (t->cursor > t->limit) attend(t);
}

void write_event(Thread* t, uptr pc, Shape shape, u64 object, u64 size, const EventValue* value) {
  if ((t->special & kStopped) != 0) {
    if ((t->special & kControlled) != 0) controlled::operation(t, pc, shape.op(), object, size);
    return heed(t);
  }
  if (SOOTH_UNLIKELY(any_ignored_memory())) t->special |= kIgnoreMemory;
  if (SOOTH_UNLIKELY(recorder.under_engine)) engine::drop_call(t, pc);
  if (SOOTH_UNLIKELY((t->special & kInCall) != 0)) calls::happened(t, pc);
  if (recorder.serial) write_pending(t);
  if (ownership::state.cells != nullptr) {
    if (is_access(shape.op())) ownership::touch_atomically(t, object, shape.is_sized() ? size : shape.size());
    if (shape.op() == Op::kFree) ownership::touch_to_free(t, object, size);
    if (shape.op() == Op::kAlloc) ownership::forget(object, size);
    if (shape.op() == Op::kEnd) ownership::settle(t);
  }
  if ((t->special & kStackChanged) != 0) write_stack(t);
  if (SOOTH_UNLIKELY(t->placed != t->top) && hands_out_pointers(shape.op())) write_frames(t);
  Place place = find_slot(t, pc, shape);
  if (!place.is_defined && !define_slot(t, place, pc, shape)) {
    // The code there has created a thread; what begins and ends is that thread.
    bool is_thread = shape.op() == Op::kBegin || shape.op() == Op::kEnd;
    if (recorder.watches_calls && !is_thread) calls::left_out(t, pc, object, 0);
    // What an excluded module frees it may have ordered by itself; the next allocation makes a new variable of it
    // anyhow.
    if (shape.op() == Op::kFree) return;
    // Synchronisation of excluded modules counts all the same: it goes under the first site.
    pc = kNoSite;
    place = find_slot(t, pc, shape);
    if (!place.is_defined && !define_slot(t, place, pc, shape)) return heed(t);  // no room: the recording has ended
  }
  u32 slot = place.slot;
  Slot& used = t->slots[slot];
  u64 delta = 0;
  if (!slot_delta(used, object, delta) && define_slot(t, place, pc, shape)) slot_delta(used, object, delta);
  u32 length = byte_length(delta);
  u64 allocations = t->tree != nullptr ? tree::before_event(shape.op()) : 0;
  Builder b(t, static_cast<u16>(length << stream::kSlotBits | slot));
  b.put_bytes(delta, length);
  if (is_ticketed(shape)) b.put_ticket();
  if (shape.is_sized()) b.put_varint(size);
  if (recorder.serial && is_access(shape.op())) put_value(b, t, slot, value);
  b.commit();
  if (recorder.serial) {
    follow(t, slot);
    bool is_short = (shape.is_sized() ? size : shape.size()) <= 8;
    if (is_access(shape.op()) && value != nullptr && is_short) remembered(t, object) = value->low;
  }
  if (t->tree != nullptr) tree::after_event(t, shape, object, allocations);
  next_epoch(t);
  publish(t);
  if (t->cursor > t->limit) attend(t);
}

void write_range(Thread* t, uptr pc, Op op, uptr address, u64 size) {
  if (size == 0) return;
  if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16) {
    access(address, pc, Shape::of(op, MemoryOrder::kNotAtomic, static_cast<unsigned>(size)), 0);
    return;
  }
  constexpr u64 kPart = u64{1} << 30;
  for (; size > 0;) {
    u64 part = size < kPart ? size : kPart;
    access_specially(t, address, pc, Shape::sized(op), 0, static_cast<u32>(part));
    address += part;
    size -= part;
  }
}

void write_name(Thread* t, ObjectKind kind, u64 object, const char* name) {
  if ((t->special & kStopped) != 0) return;
  if (recorder.serial) write_pending(t);
  Builder b(t, escape(Record::kName));
  b.put8(static_cast<u8>(kind));
  b.put_varint(object);
  u32 length = static_cast<u32>(text_length(name));
  if (length > 40) length = 40;
  b.put_varint(length);
  for (u32 i = 0; i < length; ++i) b.put8(static_cast<u8>(name[i]));
  b.commit();
  if (t->cursor > t->limit) attend(t);
}

void write_thread_pointer(Thread* t) {
  if ((t->special & kStopped) != 0) return;
  Builder b(t, escape(Record::kThreadPointer));
  b.put_varint(thread_pointer());
  b.commit();
  if (t->cursor > t->limit) attend(t);
}

void write_turn(Thread* t) {
  if ((t->special & kStopped) != 0) return;
  Builder b(t, escape(Record::kTurn));
  b.put_ticket();
  b.commit();
  publish(t);
  if (t->cursor > t->limit) attend(t);
}

void write_thread_switch(Thread* t, u32 id, bool ticketed) {
  if ((t->special & kStopped) != 0) return;
  if (recorder.serial) write_pending(t);
  ownership::settle(t);
  if (ticketed && !recorder.serial) {
    Builder b(t, escape(Record::kTicket));
    b.put_ticket();
    b.commit();
  }
  Builder b(t, escape(Record::kThread));
  b.put_varint(id);
  b.commit();
  if (t->tree != nullptr) tree::restart(t->tree);
  ownership::begin_thread(t, id);
  next_epoch(t);
  publish(t);
  if (t->cursor > t->limit) attend(t);
}

}  // namespace sooth::rt
