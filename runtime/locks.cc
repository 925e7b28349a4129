#include "runtime/locks.h"
#include <link.h>
#include <sys/auxv.h>

#include "runtime/options.h"
#include "runtime/stream_writer.h"
#include "runtime/tree.h"

namespace sooth::rt {
namespace {

// Who holds a lock in the trace, which differs from the truth when a thread unlocks what another has locked. In one
// word:
//   bits 0-31  the owner's id and one; 0: nobody, or readers
//   bits 32-59 number of readers
//   bit 60     somebody has taken it since it was made
//   bit 61     an annotation told when it was made
//   bit 62     an annotation said that it is never destroyed
//   bit 63     locked or unlocked out of our view: nothing is certain any more
constexpr u64 kReader = u64{1} << 32;
constexpr u64 kTaken = u64{1} << 60;
constexpr u64 kMade = u64{1} << 61;
constexpr u64 kStatic = u64{1} << 62;
constexpr u64 kUnclear = u64{1} << 63;
constexpr u64 kHolders = kTaken - 1;

struct Entry {
  uptr lock;  // 0: free
  u64 holders;
};

// Open addressing; locks stay in it for ever. When a neighbourhood is full, further locks are not followed: they are
// recorded, but mistakes with them are not noticed.
constexpr u32 kEntries = 1u << 18;
constexpr u32 kNeighbours = 32;
Entry* table_ = nullptr;
// How often each lock of the table was taken and given back, for tree:hb only.
u64* events_ = nullptr;
SpinLock table_lock_;
// Where locks are or were, so that most memory that is freed need not be searched for them: a bit for each page, by hash.
constexpr unsigned kPageBits = 12;
constexpr u32 kLockPages = 1u << 16;
u64 lock_pages_[kLockPages / 64];
u32 lock_page_of(uptr address) { return static_cast<u32>((address >> kPageBits) * 0x9e3779b97f4a7c15 >> 48); }
bool may_hold_locks(uptr address) {
  u32 bit = lock_page_of(address);
  return (__atomic_load_n(&lock_pages_[bit / 64], __ATOMIC_RELAXED) >> (bit % 64) & 1) != 0;
}
void has_lock(uptr address) {
  u32 bit = lock_page_of(address);
  if (!may_hold_locks(address)) __atomic_fetch_or(&lock_pages_[bit / 64], u64{1} << (bit % 64), __ATOMIC_RELAXED);
}

// nullptr when there is no memory: then no lock is followed.
Entry* table() {
  Entry* entries = __atomic_load_n(&table_, __ATOMIC_ACQUIRE);
  if (SOOTH_LIKELY(entries != nullptr)) return entries;
  SpinGuard guard(table_lock_);
  if (recorder.filter == stream::FilterMode::kTreeHb && events_ == nullptr)
    events_ = static_cast<u64*>(map_memory(kEntries * sizeof(u64)));
  if (table_ == nullptr)
    __atomic_store_n(&table_, static_cast<Entry*>(map_memory(kEntries * sizeof(Entry))), __ATOMIC_RELEASE);
  return table_;
}

u32 place_of(uptr lock) { return static_cast<u32>((lock >> 3) * 0x9e3779b97f4a7c15 >> 46) & (kEntries - 1); }

// nullptr: unknown, and (with `add`) no room for it.
Entry* find_entry(uptr lock, bool add) {
  Entry* entries = table();
  if (SOOTH_UNLIKELY(entries == nullptr)) return nullptr;
  u32 place = place_of(lock);
  for (u32 i = 0; i < kNeighbours; ++i) {
    Entry& e = entries[(place + i) & (kEntries - 1)];
    uptr seen = __atomic_load_n(&e.lock, __ATOMIC_ACQUIRE);
    if (seen == lock) return &e;
    if (seen != 0) continue;
    if (!add) return nullptr;
    if (__atomic_compare_exchange_n(&e.lock, &seen, lock, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || seen == lock) {
      has_lock(lock);
      return &e;
    }
  }
  return nullptr;
}

u64 owner_bits(const Thread* t) { return u64{t->id} + 1; }

// False: in the trace somebody else holds the lock, in a mode that excludes this one.
bool take(Entry* e, const Thread* t, bool shared) {
  if (e == nullptr) return true;
  u64 old = __atomic_load_n(&e->holders, __ATOMIC_RELAXED);
  for (;;) {
    bool excluded = shared ? (old & 0xffffffff) != 0 : (old & kHolders) != 0;
    u64 wanted = (excluded ? old | kUnclear : shared ? old + kReader : old | owner_bits(t)) | kTaken;
    if (__atomic_compare_exchange_n(&e->holders, &old, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return !excluded;
  }
}

void give_back(Entry* e, bool shared) {
  if (e == nullptr) return;
  if (shared)
    __atomic_fetch_sub(&e->holders, kReader, __ATOMIC_ACQ_REL);
  else
    __atomic_fetch_and(&e->holders, ~u64{0xffffffff}, __ATOMIC_ACQ_REL);
}

void mark_unclear(Entry* e) {
  if (e != nullptr) __atomic_fetch_or(&e->holders, kUnclear, __ATOMIC_RELAXED);
}

// Another event of the lock: the number of those before, by anybody. While the lock is held exclusively nobody else
// counts.
u64 count_event(const Entry* e) {
  return e == nullptr || events_ == nullptr ? kUnknownEvents
                                            : __atomic_fetch_add(&events_[e - table_], 1, __ATOMIC_ACQ_REL);
}

HeldLock* find_held(Thread* t, uptr lock) {
  for (u32 i = t->held_count; i-- > 0;) {
    if (t->held[i].lock == lock) return &t->held[i];
  }
  return nullptr;
}

Shape shape_of(Op op, bool shared, u8 how = 0) { return Shape::with_flags(op, (shared ? kShared : 0u) | how); }

// A lock that is passed from thread to thread, or that we have lost track of, still orders what it orders: whoever
// gives it back sends a message to all who take it later.
void send(Thread* t, uptr pc, uptr lock) {
  if (t->ignore_sync == 0) write_event(t, pc, Shape::of(Op::kHappensBefore), lock);
}
void receive(Thread* t, uptr pc, uptr lock) { write_event(t, pc, Shape::of(Op::kHappensAfter), lock); }

bool is_unclear(const Entry* e) {
  return e != nullptr && (__atomic_load_n(&e->holders, __ATOMIC_RELAXED) & kUnclear) != 0;
}

// Before the event, so that a handler that runs behind it finds everything as it is.
void begin_section(Thread* t, uptr pc, uptr lock, bool shared, u32 depth, u8 how = 0) {
  Entry* e = find_entry(lock, true);
  if (t->ignore_sync != 0) {
    mark_unclear(e);
    return;
  }
  if (t->held_count == kMaxHeld) mark_unclear(e);
  bool taken = t->held_count < kMaxHeld && take(e, t, shared);
  if (SOOTH_UNLIKELY(!taken || is_unclear(e))) receive(t, pc, lock);
  if (!taken) return;
  t->held[t->held_count++] = {lock, depth, shared};
  if (t->tree != nullptr) t->tree->lock_events = count_event(e);
  write_event(t, pc, shape_of(Op::kAcquire, shared, how), lock);
}

// The event comes first: as soon as the lock is free in the table another thread may acquire it in the trace. Until
// then it is not ours in `held`, so a handler that runs behind the event does not release it again.
void end_section(Thread* t, uptr pc, HeldLock* held) {
  uptr lock = held->lock;
  bool shared = held->shared;
  HeldLock* last = &t->held[--t->held_count];
  for (; held < last; ++held) *held = held[1];
  Entry* e = find_entry(lock, false);
  if (SOOTH_UNLIKELY(is_unclear(e))) send(t, pc, lock);
  write_event(t, pc, shape_of(Op::kRelease, shared), lock);
  count_event(e);
  give_back(e, shared);
}

void report_bad_unlock(Thread* t, uptr pc, uptr lock) {
  Entry* e = find_entry(lock, true);
  if (e == nullptr) return;
  u64 holders = __atomic_fetch_or(&e->holders, kUnclear, __ATOMIC_ACQ_REL);
  if ((holders & kUnclear) != 0 || t->ignore_sync != 0 || !options.report_mutex_bugs) return;
  misuse(t, pc, (holders & kHolders) == 0 ? Misuse::kUnlockUnlocked : Misuse::kUnlockWrongThread, lock);
}

}  // namespace

void lock_acquired(Thread* t, uptr pc, uptr lock, bool shared, u8 how) {
  if (HeldLock* held = find_held(t, lock))
    ++held->depth;
  else
    begin_section(t, pc, lock, shared, 1, how);
}

void lock_missed(Thread* t, uptr pc, uptr lock, bool shared, u8 how) {
  if (t->ignore_sync != 0) return;
  bool is_free_running = !recorder.serial && !recorder.controlled;
  if (is_free_running && t->missed_lock == lock && t->missed_ticket == t->last_ticket) return;
  write_event(t, pc, shape_of(Op::kAcquireFailed, shared, how), lock);
  t->missed_lock = lock;
  t->missed_ticket = t->last_ticket;
}

bool lock_releasing(Thread* t, uptr pc, uptr lock, bool report) {
  HeldLock* held = find_held(t, lock);
  if (held == nullptr) {
    if (report) report_bad_unlock(t, pc, lock);
    send(t, pc, lock);
    return false;
  }
  if (--held->depth == 0) end_section(t, pc, held);
  return true;
}

bool holds_lock(const Thread* t, uptr lock) { return find_held(const_cast<Thread*>(t), lock) != nullptr; }

bool holds_exclusively(const Thread* t, uptr lock) {
  const HeldLock* held = find_held(const_cast<Thread*>(t), lock);
  return held != nullptr && !held->shared;
}

void waits_without_lock(Thread* t, uptr pc, uptr lock) { report_bad_unlock(t, pc, lock); }

u32 lock_holder(uptr lock) {
  const Entry* e = find_entry(lock, false);
  u64 owner = e == nullptr ? 0 : __atomic_load_n(&e->holders, __ATOMIC_RELAXED) & 0xffffffff;
  return static_cast<u32>(owner) - 1;
}

u32 lock_release_all(Thread* t, uptr pc, uptr lock) {
  HeldLock* held = find_held(t, lock);
  if (held == nullptr) return 0;
  u32 depth = held->depth;
  end_section(t, pc, held);
  return depth;
}

void lock_reacquired(Thread* t, uptr pc, uptr lock, u32 depth) { begin_section(t, pc, lock, false, depth); }

void lock_destroyed(Thread* t, uptr pc, uptr lock) {
  Entry* e = find_entry(lock, false);
  if (e == nullptr) return;
  u64 holders = __atomic_load_n(&e->holders, __ATOMIC_ACQUIRE);
  if ((holders & kHolders) != 0 && (holders & kUnclear) == 0 && t->ignore_sync == 0 && options.report_mutex_bugs &&
      options.report_destroy_locked) {
    misuse(t, pc, Misuse::kDestroyLocked, lock);
  } else if ((holders & (kHolders | kUnclear)) == 0 && t->ignore_sync == 0 && options.report_mutex_bugs) {
    misuse(t, pc, Misuse::kDestroy, lock);  // which it is if others may still use it: who knows what is ordered tells
  }
  lock_release_all(t, pc, lock);
  // Whoever held it may still unlock it, which would be the same mistake; a new lock here starts clean.
  if ((holders & kHolders) != 0)
    mark_unclear(e);
  else
    __atomic_fetch_and(&e->holders, kStatic, __ATOMIC_RELAXED);
}

bool may_hold_locks(uptr begin, uptr end) {
  constexpr uptr kPage = uptr{1} << kPageBits;
  for (uptr page = begin & ~(kPage - 1); page < end; page += kPage)
    if (may_hold_locks(page)) return true;
  return false;
}

// Destructors of std::mutex and its like call nothing.
void locks_freed(Thread* t, uptr pc, uptr begin, uptr end) {
  constexpr uptr kAlignment = 8, kPage = uptr{1} << kPageBits;
  for (uptr page = begin & ~(kPage - 1); page < end; page += kPage) {
    if (SOOTH_LIKELY(!may_hold_locks(page))) continue;
    uptr last = page + kPage < end ? page + kPage : end;
    for (uptr lock = page > begin ? page : begin; lock < last; lock += kAlignment) {
      const Entry* e = find_entry(lock, false);
      u64 known = e == nullptr ? 0 : __atomic_load_n(&e->holders, __ATOMIC_RELAXED);
      if ((known & kTaken) != 0 && (known & kStatic) == 0) lock_destroyed(t, pc, lock);
    }
  }
}

void lock_announced(uptr lock, bool is_static, bool says_when_made) {
  Entry* e = find_entry(lock, true);
  u64 bits = (is_static ? kStatic : 0) | (says_when_made ? kMade : 0);
  if (e != nullptr && bits != 0) __atomic_fetch_or(&e->holders, bits, __ATOMIC_RELAXED);
}

bool lock_can_die(uptr lock, bool is_static, bool says_when_made) {
  const Entry* e = find_entry(lock, false);
  u64 known = e == nullptr ? 0 : __atomic_load_n(&e->holders, __ATOMIC_RELAXED);
  return !is_static && (known & kStatic) == 0 && (!says_when_made || (known & kMade) != 0);
}

// A variable of the program's file. Other memory may be handed out again in ways that nobody tells of.
static bool is_program_variable(uptr address) {
  static uptr begin_ = 0, end_ = 0;  // everybody finds the same
  if (__atomic_load_n(&end_, __ATOMIC_ACQUIRE) == 0) {
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    uptr bias = 0, begin = ~uptr{0}, end = 1;
    for (unsigned long i = 0; segments != nullptr && i < getauxval(AT_PHNUM); ++i) {
      if (segments[i].p_type == PT_PHDR) bias = reinterpret_cast<uptr>(segments) - segments[i].p_vaddr;
      if (segments[i].p_type != PT_LOAD) continue;
      uptr at = bias + segments[i].p_vaddr;
      if (at < begin) begin = at;
      if (at + segments[i].p_memsz > end) end = at + segments[i].p_memsz;
    }
    __atomic_store_n(&begin_, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&end_, end, __ATOMIC_RELEASE);
  }
  return address >= __atomic_load_n(&begin_, __ATOMIC_RELAXED) && address < __atomic_load_n(&end_, __ATOMIC_RELAXED);
}

// What was used and not destroyed is destroyed by that.
void lock_initialised(Thread* t, uptr pc, uptr lock) {
  const Entry* e = find_entry(lock, false);
  u64 known = e == nullptr ? 0 : __atomic_load_n(&e->holders, __ATOMIC_ACQUIRE);
  if ((known & kTaken) != 0 && (known & (kHolders | kUnclear | kStatic)) == 0 && t->ignore_sync == 0 &&
      options.report_mutex_bugs && is_program_variable(lock))
    misuse(t, pc, Misuse::kDestroy, lock);
  lock_created(t, pc, lock);
}

void lock_created(Thread* t, uptr pc, uptr lock) {
  lock_release_all(t, pc, lock);
  Entry* e = find_entry(lock, false);
  if (e != nullptr && (__atomic_load_n(&e->holders, __ATOMIC_RELAXED) & kHolders) == 0)
    __atomic_fetch_and(&e->holders, ~kUnclear, __ATOMIC_RELAXED);
}

void holder_ends(Thread* t) {
  for (u32 i = 0; i < t->held_count; ++i) send(t, 1, t->held[i].lock);
}

void restart_locks_after_fork(Thread* t) {
  table_lock_.reset();
  Entry* entries = table_;
  if (entries == nullptr) return;
  unmap_memory(entries, kEntries * sizeof(Entry));
  table_ = nullptr;
  if (events_ != nullptr) unmap_memory(events_, kEntries * sizeof(u64));
  events_ = nullptr;
  for (u32 i = 0; i < t->held_count; ++i) take(find_entry(t->held[i].lock, true), t, t->held[i].shared);
}

void misuse(Thread* t, uptr pc, Misuse kind, u64 object) {
  write_event(t, pc, Shape::sized(Op::kMisuse), object, static_cast<u64>(kind));
}

}  // namespace sooth::rt
