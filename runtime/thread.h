// A thread of the recorded program, and the stream it writes.
#pragma once

#include "runtime/sys.h"
#include "schedule/spin.h"
#include "trace/op.h"
#include "trace/recording/stream_format.h"

namespace sooth::rt {

// Bits of Thread::special: why an access hook must take the long way.
inline constexpr u32 kStackChanged = 1;  // functions were entered or left since the last record
inline constexpr u32 kSerialMode = 2;    // values are recorded, turns are taken
inline constexpr u32 kIgnoreReads = 4;   // an annotation asked for it
inline constexpr u32 kIgnoreWrites = 8;
inline constexpr u32 kIgnoreSync = 16;
inline constexpr u32 kStopped = 32;        // the recording is over, or was never wanted
inline constexpr u32 kJumped = 64;         // a longjmp may have left frames behind
inline constexpr u32 kIgnoreMemory = 256;  // some memory is not recorded: benign.h
inline constexpr u32 kKeepRepeats = 128;   // no access is dropped because it was seen before
// Nothing is recorded, but threads are scheduled: control.h. With kStopped and kSerialMode.
inline constexpr u32 kControlled = 512;
inline constexpr u32 kEachAccess = 1024;  // of a controlled thread: every access is a scheduling point
inline constexpr u32 kInCall = 4096;      // code that is left out did something, and nothing else since: calls.h
inline constexpr u32 kWatched = 2048;     // ... and it may be spinning: `spin` sees what it does
inline constexpr u32 kQuiet = 8192;       // ... since it last gave way it did nothing that others could wait for
inline constexpr u32 kStill =
    32768;                           // ... and not even took or released a lock, looked at a clock or called the system
inline constexpr u32 kWeak = 16384;  // ... and its plain writes are told to weak.h

// Everything of an event but its object, thread and site, packed into 16 bits. Part of a slot's key.
//   bits 0-4 op   5-7 memory order, or of locks and conditions: kTry 1, kTimed 2   8 shared, everybody   9-12 code of the size: 0 none, 1..5 = 1, 2, 4, 8, 16 bytes, 15 = in the record
struct Shape {
  u16 bits;

  static constexpr unsigned kBits = 13;
  static constexpr unsigned kAnySize = 15;
  static constexpr Shape of(Op op, MemoryOrder order = MemoryOrder::kNotAtomic, unsigned size = 0) {
    unsigned code = size == 1    ? 1
                    : size == 2  ? 2
                    : size == 4  ? 3
                    : size == 8  ? 4
                    : size == 16 ? 5
                    : size == 0  ? 0
                                 : kAnySize;
    return {static_cast<u16>(static_cast<unsigned>(op) | static_cast<unsigned>(order) << 5 | code << 9)};
  }
  // `flags` as in Event.
  static constexpr Shape with_flags(Op op, unsigned flags) {
    static_assert(kAllFlags == 7 && kEverybody <= kAllFlags);
    return {static_cast<u16>(static_cast<unsigned>(op) | (flags >> 1) << 5 | (flags & 1u) << 8)};
  }
  static constexpr Shape sized(Op op) { return {static_cast<u16>(static_cast<unsigned>(op) | kAnySize << 9)}; }
  constexpr Op op() const { return static_cast<Op>(bits & 31); }
  constexpr MemoryOrder order() const {
    return has_flags() ? MemoryOrder::kNotAtomic : static_cast<MemoryOrder>(bits >> 5 & 7);
  }
  constexpr bool has_flags() const { return is_lock_op(op()) || is_condition_op(op()); }
  constexpr u8 flags() const { return has_flags() ? static_cast<u8>((bits >> 5 & 3) << 1 | (bits >> 8 & 1)) : u8{0}; }
  constexpr unsigned size_code() const { return bits >> 9 & 15; }
  constexpr bool is_sized() const { return size_code() == kAnySize; }
  constexpr u32 size() const { return size_code() == 0 || is_sized() ? 0 : 1u << (size_code() - 1); }
};

// What the stream's reader knows of a slot, too: see stream_format.h.
struct Slot {
  u64 key;   // program counter, or displaced_key() if another slot should be its own; 0: empty
  u64 next;  // the object that is predicted: the last one and the step
  u64 step;  // the last one less the one before
};
inline constexpr u64 kDisplaced = u64{1} << 63;

struct Frame {
  uptr call;   // return address less one
  uptr stack;  // the stack pointer of the function that was entered: frames below the current one are dead
  uptr pc;     // in that function, behind its prologue
};
inline constexpr u32 kMaxFrames = 64 * 1024;

// Locks that a thread holds, so that only what it holds is released in the trace.
struct HeldLock {
  uptr lock;
  u32 depth;  // of a recursive one
  bool shared;
};
inline constexpr u32 kMaxHeld = 512;

inline constexpr unsigned kRepeatBits = 15;
inline constexpr u32 kRepeatEntries = 1u << kRepeatBits;
inline constexpr u32 kEpochs = 1u << (kRepeatBits + 4);

// Where a thread of a controlled run is. Plain accesses since the last operation: origin less Thread::quantum, so that
// a hook counts by taking one off the quantum.
struct Progress {
  u64 origin;
  u64 events;      // operations of synchronisation
  u64 calls;       // of hooks, up to the last operation
  u64 next_watch;  // the number of calls at which to look again whether it spins
  uptr pc;         // of the last operation that turn::step() was told of; in serial recordings, too
};

// What an atomic operation that changed nothing saw, and how often in a row; for threads that spin in serial recordings.
struct Look {
  uptr pc;
  uptr address;
  u64 value;
  u32 quantum;  // behind it: how far the thread has come since
  u32 times;
};
inline constexpr u32 kLooks = 4;

struct Tree;          // tree.h
struct TouchedLines;  // calls.cc
inline constexpr u32 kKnownCode = 256;

// Owned by its operating system thread; others touch only what is marked. Mapped zeroed; kept and used again when the
// thread has ended, with its stream. A new field that hooks use goes to the top.
struct Thread {
  // The next byte to write. Behind `limit` (or when attention is wanted: then limit is nullptr) a hook calls attend().
  u8* cursor;
  u8* limit;  // set to nullptr by the handler of a signal that must wait
  u32 special;
  u32 epoch;       // below kEpochs, in the low bits of `repeats`: changes with each synchronisation
  Frame* top;      // one past the innermost frame
  Frame* low;      // the lowest that `top` has been since the last record
  Frame* written;  // as far as the stream knows the stack
  Frame* placed;   // ... and where in memory the frames are
  Frame* frames;   // the floor: frames below it belong to what a signal interrupted
  Frame* bottom;   // of the whole array
  u64 last_ticket;
  uptr start_caller;  // of std::thread's constructor that is about to call pthread_create; 0: none
  uptr missed_lock;   // of the latest kAcquireFailed
  u64 missed_ticket;
  Tree* tree;  // nullptr: no redundant accesses are left out but those in `repeats`

  // A write of a serial recording whose value is read from memory at the next hook. Slot number; 0: none.
  u32 pending_slot;
  u32 pending_size;
  uptr pending_object;
  u32 pending_code;  // of its control word, and its delta: it is not in the stream yet
  u64 pending_delta;
  // A read right behind it. GCC calls the hooks of `*a = *b` in the order write, read, and only then copies: the value
  // of the write is known at the hook after the read, which is written behind it. Slot 0: none.
  u32 deferred_slot;
  u32 deferred_code;
  uptr deferred_object;
  u64 deferred_delta;
  u64 deferred_value;
  // For ownership.h.
  bool pending_without_value;  // what the pending write leaves is nobody's business
  u32 owner;                   // as cells have it; 0: there are too many threads
  u64 left_out;                // accesses since the last mark
  u32 quantum;                 // accesses until another thread gets the turn
  u32 turn_state;              // of turn.h
  u64* values;                 // two per slot, serial recordings only
  u32 context;                 // of what comes next: see `following`
  u8* run_end;                 // the cursor behind the run that may still grow; anything else: there is none
  Progress progress;           // controlled runs only
  Look looks[kLooks];          // by pc; serial recordings only

  u32 id;  // ThreadId of the trace
  u32 stream;
  u32 sequence;  // of the open chunk
  u8* chunk;
  u32 busy;             // > 0: in a part of the library that must not be interrupted by a handler
  u32 pending_signals;  // a handler waits; see signals.h
  u32 ignore_reads, ignore_writes, ignore_sync;  // depths of annotations
  u32 generation;                                // of modules, when the slots were valid
  u32 held_count;
  HeldLock held[kMaxHeld];
  Thread* next_free;
  uptr stack_begin, stack_end;
  u32 turn_word;           // futex of turn.h
  u64 turn_data[8];        // owned by turn.cc
  SpinWatch spin;          // controlled runs only
  void* signal_data;       // owned by signals.cc
  u32 interruptions;       // handlers that have run and after which calls are not restarted
  u32 raises;              // the signal that it is about to send to itself; 0: none
  bool raises_only;        // ... by raise(), behind which the standard lets handlers call what they like
  u32 handlers;            // that run now and must not call what they may have interrupted
  bool handles_crash;      // one of them is of a signal that ends the program
  bool in_unsafe_call;     // one of them does: what that function calls is its own business
  bool waits_for_signals;  // in a call that lets signals in which the thread keeps back otherwise

  unsigned long engine_call[5];  // a SoothCall: engine.cc

  // For run_end.h.
  uptr stepped_at;    // its last operation in a controlled run
  Frame* stepped_in;  // ... and the function that did it
  uptr fatal_pc;      // where it called abort(), or an assertion failed; 0: nowhere
  uptr thrown_at;     // the last exception

  // The frame of a call of libstdc++.so that is told as a whole: what it copies is not told again. 0: there is none.
  uptr library_call;
  uptr library_pc;  // where it was called

  // The call of code that is left out: calls.h.
  Frame* call_frame;  // of its function; nullptr: it has none, or there is no call
  uptr call_stack;    // the stack pointer of its function
  uptr call_pc;       // a pc in its function
  u32 call_function;  // ... and its row of `sites`
  uptr call_site;     // the pc that it was called from
  u32 call_count;     // calls of this thread so far
  bool call_unknown;  // nobody knows all that it touched
  TouchedLines* touched;
  u32 code_generation;   // of modules, when `code` was right
  u64 code[kKnownCode];  // pc << 1 | whether it is left out

  alignas(64) Slot slots[stream::kSlots];
  // By context, which record came behind it: see stream::kRuns. Serial recordings only.
  u16 following[stream::kContexts];
  // By place, the last value there: likewise.
  u64 remembered[stream::kPlaces];
  // Accesses that were recorded since the last synchronisation: see Repeat.
  alignas(64) u64 repeats[kRepeatEntries];
};

using stream::kNoSite;

extern __thread Thread* self_ __attribute__((tls_model("initial-exec")));

// nullptr: this thread is not recorded (not yet, no longer, or nothing is).
SOOTH_INLINE Thread* current() { return self_; }

// Whether what the thread synchronises matters to anybody: it is recorded, or scheduled.
SOOTH_INLINE bool is_synchronisation_seen(const Thread* t) {
  u32 special = t->special & (kStopped | kControlled | kIgnoreSync);
  return special == 0 || special == (kStopped | kControlled);
}

// What is known of a thread for as long as the process lives.
struct ThreadInfo {
  u64 handle;       // pthread_t; 0 when unknown
  uptr created_at;  // pc of the pthread_create
  u32 state;        // ThreadState
  u32 creator;
  u32 children;  // that it has created
};
enum class ThreadState : u32 { kNone, kRunning, kEnded, kJoined };
inline constexpr u32 kDetachedBit = 0x100;

// What a thread needs to be recorded, new or of one that has ended; nullptr when there is no memory.
Thread* new_thread();
// The thread was not created after all, or has ended: another may continue its stream.
void give_back(Thread* t);
// Makes the calling thread a recorded one with the given id (from new_thread_id) and emits kBegin and the kAlloc of its
// stack.
void attach_thread(Thread* t, u32 id);
// Emits kEnd and gives the stream back. The thread records nothing any more.
void detach_thread();
// Emits kFork by `creator` (nullptr: none, for the first thread) and returns the id for attach_thread.
u32 new_thread_id(Thread* creator, uptr pc);
ThreadInfo& thread_info(u32 id);
u32 thread_count();
// The id of the latest thread with this handle that was neither joined nor detached; ~0u when there is none.
u32 find_thread(u64 handle);
void set_thread_handle(u32 id, u64 handle);
// In the child of a fork: the calling thread is the only one, and thread 0 of a new recording.
void restart_threads_after_fork(Thread* t);
// A logical thread moves to this operating system thread (fibers): what follows in the stream is of `id`.
void switch_to_thread_id(Thread* t, u32 id);

}  // namespace sooth::rt
