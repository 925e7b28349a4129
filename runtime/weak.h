// Weak memory in controlled runs (control::kWeakMemory): what atomics may see is up to schedule/weak_memory.h, and which of
// that they do see to the strategy or the schedule. Memory itself holds the newest of each location, for plain accesses and
// for code that we do not see.
//
// Everything here is done by the thread that has the turn. What orders threads by other means than atomics is taken to order a
// little more than it does, never less: so no thread sees what it could not.
#pragma once

#include "runtime/sys.h"
#include "runtime/thread.h"
#include "schedule/weak_memory.h"

namespace sooth::rt::weak_run {

using sooth::weak::Order;
using sooth::weak::Value;

extern bool is_on_;
SOOTH_INLINE bool is_on() { return SOOTH_UNLIKELY(is_on_); }

// The process is controlled, or another that a fork has made.
void start();

// An atomic operation of `size` bytes at `address`.
struct Access {
  Thread* thread;
  uptr pc;
  uptr address;
  u32 size;
  Value memory;  // what is there now
};
// What it did: `writes` says what memory holds from now on.
struct Seen {
  Value read;
  bool changes;  // memory, to `value`
  Value value;
  bool wrote;  // something, if only to the past
};
Seen load(const Access& access, Order order);
Seen store(const Access& access, Order order, const Value& value);
// Whether the old value is replaced, and by what.
using Change = bool (*)(void* context, const Value& old, Value& next);
Seen modify(const Access& access, Order order, Order otherwise, Change change, void* context);
void fence(Thread* t, Order order);

// An event that is no access has happened; `object` and `size` as of write_event().
void happened(Thread* t, Op op, u64 object, u64 size);
// A plain write is about to happen.
void before_write(uptr address, u64 bytes);

}  // namespace sooth::rt::weak_run
