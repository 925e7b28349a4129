// Memory that one thread has to itself. In long serial recordings most accesses are to such memory, and most of those
// are left out: docs/recording.md, "Thinning", says which, and why what is left is still exact about everything else.
//
// Every granule of 8 bytes has a cell of 16 bits: who has touched it since it was allocated, and how far its recording
// has come. Whoever has the turn reads and writes cells; nobody else does.
#pragma once

#include "runtime/recorder.h"
#include "runtime/thread.h"

namespace sooth::rt::ownership {

// A cell: the owner in the low bits (0: nobody yet), its stage above.
inline constexpr unsigned kOwnerBits = 10;
inline constexpr u32 kOwnerMask = (1u << kOwnerBits) - 1;
inline constexpr u32 kShared = kOwnerMask;  // the whole cell: several threads, and all they did is recorded
inline constexpr u32 kMostOwners = kShared - 1;
// Stages up to kMostCounted: so many accesses of the owner were recorded, and none was left out.
inline constexpr u32 kMostCounted = 60;
inline constexpr u32 kReadsLeftOut = 61;  // nothing but reads was left out
inline constexpr u32 kAllLeftOut = 62;    // reads and writes are; in front of them stands a write without a value
inline constexpr u32 kHandedOver = 63;    // accesses were left out, but are no more: others touch it, too
inline constexpr u32 kNothingLeftOut = kMostCounted + 1;

struct State {
  u16* cells;    // nullptr: everything is recorded
  u32 keep;      // accesses of an owner to a granule that are recorded before any is left out; kNothingLeftOut: all are
  u64 granules;  // the last one that has a cell; all bits below its highest are set
};
extern State state;

// Of any number, though it be no address: who uses that is about to fault.
SOOTH_INLINE u64 granule_of(uptr address) { return address >> 3 & state.granules; }

// What is to become of an access.
enum class Verdict : u8 {
  kRecord,
  kWithoutValue,  // record it, but what it writes may be overwritten by what is left out
  kLeaveOut,
  kRestate  // record a write without a value to the whole granule instead: writes are left out from here on
};

// In recordings that can leave something out. `from`: bytes of the recording from which on it does.
void start(u64 from);
// In the child of a fork: a recording of its own.
void restart_after_fork();
// The recording has so many bytes now.
void grown(u64 bytes);
// From here on nothing more is left out than by now.
void keep_all();
// The thread goes on under this id.
void begin_thread(Thread* t, u32 id);

// The thread, which has the turn, is about to make a plain access. May write to its stream, if the access is the first
// of something that another thread had to itself: what that one left out is then in front of it.
Verdict touch(Thread* t, uptr address, u64 size, bool is_write);
// The same for atomic accesses and for blocks that are given back, which are always recorded.
void touch_atomically(Thread* t, uptr address, u64 size);
void touch_to_free(Thread* t, uptr address, u64 size);
// New variables.
void forget(uptr address, u64 size);

// The thread is about to lose the turn: others learn that something was left out up to here. Writes one short record;
// no lock, no libc, so that whoever takes the turn away may do it.
void put_mark(Thread* t);
SOOTH_INLINE void settle(Thread* t) {
  if (SOOTH_UNLIKELY(t->left_out != 0)) put_mark(t);
}

// Whether the access is recorded like any other, which most are that are not left out: touch() has nothing to add.
SOOTH_INLINE bool is_simple(const Thread* t, uptr address, u32 size) {
  if (SOOTH_UNLIKELY((address & 7) + size > 8)) return false;
  u16& cell = state.cells[granule_of(address)];
  if (cell == kShared) return true;
  if ((cell & kOwnerMask) != t->owner || cell >> kOwnerBits >= state.keep) return false;
  if (cell >> kOwnerBits < kMostCounted) cell = static_cast<u16>(cell + (1u << kOwnerBits));
  return true;
}

// Whether the access is left out, at the price of two loads. False: touch() knows.
SOOTH_INLINE bool is_left_out(Thread* t, uptr address, u32 size, bool is_write) {
  if (state.cells == nullptr) return false;
  u32 cell = state.cells[granule_of(address)];
  u32 wanted = t->owner | kAllLeftOut << kOwnerBits;
  if (cell != wanted && (is_write || cell != (t->owner | kReadsLeftOut << kOwnerBits))) return false;
  if (SOOTH_UNLIKELY((address & 7) + size > 8 || t->quantum == 1)) return false;
  if (SOOTH_UNLIKELY(__atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) != 0)) return false;
  --t->quantum;
  ++t->left_out;
  heed(t);
  return true;
}

}  // namespace sooth::rt::ownership
