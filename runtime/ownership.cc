#include "runtime/ownership.h"

#include <sys/mman.h>

#include "runtime/stream_writer.h"

namespace sooth::rt::ownership {

State state{nullptr, kNothingLeftOut, 0};

namespace {

constexpr u64 kAddresses = u64{1} << kAddressBits;
constexpr u64 kAddressesInEngine = u64{1} << 37;  // what Valgrind leaves of them to itself and the program
constexpr u64 kWholePages = u64{1} << 20;         // blocks from this size on are forgotten by page
constexpr u64 kTooLong = u64{256} << 20;          // and not looked at cell by cell

u64 from_ = 0;
u32 no_site_ = 0;      // kNoSite, in `sites`
u32 marks_[kShared];   // by owner, those that it has put into its stream
u32 handed_[kShared];  // by owner, the mark behind all that it had left out of what others have touched since
u32* seen_ = nullptr;  // by thread and owner, the mark that the thread is behind

u64 addresses() { return (state.granules + 1) << 3; }
u64 cell_bytes() { return (state.granules + 1) * sizeof(u16); }

u64 mark_of(u32 owner, u32 number) { return stream::kFirstMark | u64{owner} << 32 | number; }

// Puts the thread behind what the owner has left out.
void order_behind(Thread* t, u32 owner) {
  u32 number = handed_[owner];
  u32* seen = t->owner == 0 ? nullptr : &seen_[t->owner << kOwnerBits | owner];
  if (number == 0 || (seen != nullptr && *seen >= number)) return;
  if (seen != nullptr) *seen = number;
  // It may be a copy of which only the first half has happened: memory does not have the value yet.
  if (t->pending_slot != 0) t->pending_without_value = true;
  write_event(t, kNoSite, Shape::of(Op::kHappensAfter), mark_of(owner, number));
}

// Another thread than its owner touches it, or an atomic access.
void hand_over(Thread* t, u16& cell) {
  u32 owner = cell & kOwnerMask;
  u32 stage = cell >> kOwnerBits;
  if (stage < kReadsLeftOut) {
    cell = kShared;
    return;
  }
  if (stage != kHandedOver) {
    cell = static_cast<u16>(owner | kHandedOver << kOwnerBits);
    // What it left out since its last mark it will tell when it loses the turn.
    bool tells_later = owner == t->owner && t->left_out != 0;
    handed_[owner] = marks_[owner] + (tells_later ? 1 : 0);
    recorder.control->handed_over += 1;
  }
  if (owner != t->owner) order_behind(t, owner);
}

bool is_anothers(const Thread* t, u32 cell) {
  u32 owner = cell & kOwnerMask;
  return owner != 0 && cell != kShared && owner != t->owner;
}

// One more access of the owner, which is recorded.
u16 counted(u32 cell) { return static_cast<u16>(cell >> kOwnerBits < kMostCounted ? cell + (1u << kOwnerBits) : cell); }

u16 at_stage(u32 cell, u32 stage) { return static_cast<u16>((cell & kOwnerMask) | stage << kOwnerBits); }

Verdict touch_one(Thread* t, u16& cell, bool is_write) {
  if (cell == kShared) return Verdict::kRecord;
  if (cell == 0) {
    cell = t->owner == 0 ? static_cast<u16>(kShared) : static_cast<u16>(t->owner | 1u << kOwnerBits);
    return Verdict::kRecord;
  }
  if ((cell & kOwnerMask) != t->owner) {
    hand_over(t, cell);
    return Verdict::kRecord;
  }
  u32 stage = cell >> kOwnerBits;
  if (stage == kHandedOver) return Verdict::kRecord;
  if (stage == kAllLeftOut || (stage == kReadsLeftOut && !is_write)) return Verdict::kLeaveOut;
  if (stage < state.keep) {
    cell = counted(cell);
    return Verdict::kRecord;
  }
  cell = at_stage(cell, is_write ? kAllLeftOut : kReadsLeftOut);
  return is_write ? Verdict::kRestate : Verdict::kLeaveOut;
}

bool are_all_left_out(const Thread* t, const u16* first, const u16* last, bool is_write) {
  for (const u16* cell = first; cell <= last; ++cell) {
    u32 stage = *cell >> kOwnerBits;
    bool is_left_out = stage == kAllLeftOut || (stage == kReadsLeftOut && !is_write);
    if (!is_left_out || (*cell & kOwnerMask) != t->owner) return false;
  }
  return true;
}

// Several granules, or a part of one and a part of the next. What is longer than 16 bytes has no value anyway.
Verdict touch_many(Thread* t, uptr address, u64 size, bool is_write) {
  u16* first = state.cells + (address >> 3);
  u16* last = state.cells + ((address + size - 1) >> 3);
  if (are_all_left_out(t, first, last, is_write)) return Verdict::kLeaveOut;
  Verdict verdict = Verdict::kRecord;
  for (u16* cell = first; cell <= last; ++cell) {
    u32 stage = *cell >> kOwnerBits;
    bool is_own = (*cell & kOwnerMask) == t->owner && t->owner != 0;
    if (is_own && (stage == kAllLeftOut || stage == kReadsLeftOut)) {
      if (stage == kAllLeftOut) verdict = Verdict::kWithoutValue;
    } else if (is_own && stage != kHandedOver && stage >= state.keep) {
      // A long write says as much as the one that touch_one() asks for.
      uptr begin = static_cast<uptr>(cell - state.cells) << 3;
      bool is_whole = begin >= address && begin + 8 <= address + size;
      if (is_write && is_whole && size > 16) *cell = at_stage(*cell, kAllLeftOut);
    } else {
      touch_one(t, *cell, is_write);
    }
  }
  return verdict;
}

// Too long to look at: behind all that anybody has left out.
void touch_unseen(Thread* t) {
  for (u32 owner = 1; owner <= kMostOwners; ++owner) {
    if (marks_[owner] == 0 || owner == t->owner) continue;
    handed_[owner] = marks_[owner];
    order_behind(t, owner);
  }
}

}  // namespace

void start(u64 from) {
  if (from == 0) return;
  // The stack is the highest there is in Valgrind; versions that give more to the program have recordings without gaps.
  if (recorder.under_engine && reinterpret_cast<uptr>(__builtin_frame_address(0)) >= kAddressesInEngine) return;
  state.granules = (recorder.under_engine ? kAddressesInEngine : kAddresses) / 8 - 1;
  long cells = sys_call(SYS_mmap, 0, static_cast<long>(cell_bytes()), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (cells < 0 && cells > -4096) return;  // no such room: then everything is recorded
  seen_ = static_cast<u32*>(map_memory(sizeof(u32) << 2 * kOwnerBits));
  if (seen_ == nullptr) {
    unmap_memory(reinterpret_cast<void*>(cells), cell_bytes());
    return;
  }
  // A core file need not have it; nor need huge pages, of which little would be used.
  sys_call(SYS_madvise, cells, static_cast<long>(cell_bytes()), MADV_DONTDUMP);
  sys_call(SYS_madvise, cells, static_cast<long>(cell_bytes()), MADV_NOHUGEPAGE);
  from_ = from;
  state.cells = reinterpret_cast<u16*>(cells);
}

void restart_after_fork() {
  if (state.cells == nullptr) return;
  sys_call(SYS_madvise, reinterpret_cast<long>(state.cells), static_cast<long>(cell_bytes()), MADV_DONTNEED);
  zero_memory(marks_, sizeof marks_);
  zero_memory(handed_, sizeof handed_);
  zero_memory(seen_, sizeof(u32) << 2 * kOwnerBits);
  state.keep = kNothingLeftOut;
}

void grown(u64 bytes) {
  if (state.cells == nullptr || from_ == 0 || bytes < from_) return;
  // The longer it gets the less is kept of what nobody else has seen.
  state.keep = bytes / from_ < 8 ? 16 : bytes / from_ < 64 ? 4 : 1;
}

void keep_all() {
  from_ = 0;
  if (state.keep == kNothingLeftOut)
    state.cells = nullptr;
  else
    state.keep = kNothingLeftOut;
}

void begin_thread(Thread* t, u32 id) {
  if (state.cells == nullptr) return;
  t->owner = id + 1 <= kMostOwners ? id + 1 : 0;
  no_site_ = intern_site(kNoSite);
}

void put_mark(Thread* t) {
  __atomic_fetch_add(&recorder.control->left_out, t->left_out, __ATOMIC_RELAXED);
  t->left_out = 0;
  put_message(t, mark_of(t->owner, ++marks_[t->owner]), no_site_);
}

Verdict touch(Thread* t, uptr address, u64 size, bool is_write) {
  if (SOOTH_LIKELY((address & 7) + size <= 8)) return touch_one(t, state.cells[granule_of(address)], is_write);
  if (address + size > addresses()) return Verdict::kRecord;
  return touch_many(t, address, size, is_write);
}

void touch_atomically(Thread* t, uptr address, u64 size) {
  if (size == 0 || address + size > addresses()) return;
  u16* last = state.cells + ((address + size - 1) >> 3);
  for (u16* cell = state.cells + (address >> 3); cell <= last; ++cell) {
    if (*cell == 0)
      *cell = kShared;
    else if (*cell != kShared)
      hand_over(t, *cell);
  }
}

void touch_to_free(Thread* t, uptr address, u64 size) {
  if (size == 0 || address + size > addresses()) return;
  if (size > kTooLong) return touch_unseen(t);
  u16* last = state.cells + ((address + size - 1) >> 3);
  for (u16* cell = state.cells + (address >> 3); cell <= last; ++cell) {
    if (is_anothers(t, *cell)) hand_over(t, *cell);
  }
}

void forget(uptr address, u64 size) {
  if (address + size > addresses()) return;
  auto begin = reinterpret_cast<uptr>(state.cells + ((address + 7) >> 3));
  auto end = reinterpret_cast<uptr>(state.cells + ((address + size) >> 3));
  if (end <= begin) return;
  if (size >= kWholePages) {
    uptr first = (begin + 4095) & ~uptr{4095}, past = end & ~uptr{4095};
    sys_call(SYS_madvise, static_cast<long>(first), static_cast<long>(past - first), MADV_DONTNEED);
    zero_memory(reinterpret_cast<void*>(past), end - past);
    end = first;
  }
  zero_memory(reinterpret_cast<void*>(begin), end - begin);
}

}  // namespace sooth::rt::ownership
