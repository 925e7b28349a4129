// Locks as the trace sees them: which ones a thread holds, and mistakes with them.
//
// In the trace a lock is acquired only when free and released only by its holder, whatever the program does, so that
// every recording is well-formed; what the program does wrong becomes an event kMisuse.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

// After the lock was taken: emits kAcquire (only for the outermost of a recursive one). `how`: 0, kTry or kTimed.
void lock_acquired(Thread* t, uptr pc, uptr lock, bool shared = false, u8 how = 0);
// A try, or a wait up to some time, found the lock taken: emits kAcquireFailed. Where threads run freely, only once for
// one that tries again and again.
void lock_missed(Thread* t, uptr pc, uptr lock, bool shared, u8 how);
// Before the lock is given back: emits kRelease when it was the outermost. False: the thread does not hold it; a misuse
// was recorded when it is certain (`report`), and nothing was released.
bool lock_releasing(Thread* t, uptr pc, uptr lock, bool report = true);
bool holds_lock(const Thread* t, uptr lock);
bool holds_exclusively(const Thread* t, uptr lock);
// A condition wait without the lock, which it is about to give back: the same misuse as unlocking it.
void waits_without_lock(Thread* t, uptr pc, uptr lock);
// The id of the thread that holds the lock exclusively; ~0u: nobody does, or nobody knows.
u32 lock_holder(uptr lock);
// All levels of a recursive lock at once, as a condition wait does; returns the depth for lock_reacquired().
u32 lock_release_all(Thread* t, uptr pc, uptr lock);
void lock_reacquired(Thread* t, uptr pc, uptr lock, u32 depth);
// What annotations say of a lock's life: one that needs no constructor is never destroyed, whatever a destructor says; one
// that says when it is made does not exist before.
void lock_announced(uptr lock, bool is_static, bool says_when_made);
// False: the destruction means nothing.
bool lock_can_die(uptr lock, bool is_static, bool says_when_made);
// The lock is destroyed. Records a misuse when some thread holds it.
void lock_destroyed(Thread* t, uptr pc, uptr lock);
// Memory is freed: the locks in it die.
void locks_freed(Thread* t, uptr pc, uptr begin, uptr end);
// Whether there may have been locks in that memory. False: there were none.
bool may_hold_locks(uptr begin, uptr end);
// A lock is initialised: a mistake if it is in use, as destroying it is.
void lock_initialised(Thread* t, uptr pc, uptr lock);
// There is a new lock at this address: one that the thread held there before is gone, without a word.
void lock_created(Thread* t, uptr pc, uptr lock);
// The thread is about to end. What it still holds stays held in the trace, but whoever gets it all the same (a robust
// mutex, or one that another thread unlocks) is ordered behind.
void holder_ends(Thread* t);
// In the child of a fork: only what `t` holds is held.
void restart_locks_after_fork(Thread* t);

// Recorded as an event kMisuse at `pc`.
using Misuse = MisuseKind;
void misuse(Thread* t, uptr pc, Misuse kind, u64 object);

}  // namespace sooth::rt
