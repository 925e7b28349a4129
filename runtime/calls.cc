#include "runtime/calls.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/stream_writer.h"

namespace sooth::rt {

// Lines of memory that the open call of a thread has touched.
struct TouchedLines {
  static constexpr u32 kMost = 1024;
  u32 count;
  bool too_many;
  u64 lines[kMost];      // in the order in which they were touched first
  u64 table[2 * kMost];  // 1 + line, open addressing; 0: free
  u64 recent[2];         // 1 + line: the last two to be touched, mostly the next ones too
  uptr stack_from;       // what is on the thread's own stack from here up was the callers' before; ~0: none was touched
};

}  // namespace sooth::rt

namespace sooth::rt::calls {
namespace {

using stream::ReachRow;
using stream::ReachRowKind;

Reach reach_ = Reach::kEverything;
ReachRow* rows_ = nullptr;
u32 row_count_ = 0;
u32 rows_reserved_ = 0;
SpinLock rows_lock_;

// What calls touched, by a hash of its lines (64 bits: equal hashes are equal sets): told once, named by number
// afterwards.
struct KnownSet {
  u64 hash;
  u32 number;
};
constexpr u32 kKnownSets = 1u << 16;
KnownSet* sets_ = nullptr;
u32 set_count_ = 0;

bool same_word(const char* text, const char* word) { return text != nullptr && text_equal(text, word); }

// Room for `count` rows behind those that there are; the lock is held.
bool reserve_rows(u32 count) {
  constexpr u32 kStep = 1u << 14;
  if (rows_ == nullptr || row_count_ + count > stream::kMaxReachRows) return false;
  while (row_count_ + count > rows_reserved_) {
    if (!reserve_file(recorder.reaches_fd, rows_reserved_ * sizeof(ReachRow),
                      (rows_reserved_ + kStep) * sizeof(ReachRow)))
      return false;
    rows_reserved_ += kStep;
  }
  return true;
}

u64 mix(u64 number) {
  number = (number ^ number >> 32) * 0x9e3779b97f4a7c15;
  return number ^ number >> 29;
}

// Of the set, not of the order in which its lines were touched.
u64 hash_of(const TouchedLines& touched) {
  u64 hash = touched.stack_from + touched.count;
  for (u32 i = 0; i < touched.count; ++i) hash += mix(touched.lines[i] + 1);
  return hash | 1;
}

// Its kind last: a row of a program that dies is whole or not there.
void append_row(ReachRowKind kind, u32 set, u64 a, u64 b) {
  ReachRow& row = rows_[row_count_++];
  row.set = set;
  row.a = a;
  row.b = b;
  __atomic_store_n(&row.kind, static_cast<u32>(kind), __ATOMIC_RELEASE);
}

void append_range(u32 set, ReachRowKind kind, uptr begin, uptr end) { append_row(kind, set, begin, end - begin); }

// The number of the set that the call has touched, whose ranges are in the file; ~0u when there is no room. The lock is
// held.
u32 number_of_set(const Thread* t, const TouchedLines& touched) {
  u64 hash = hash_of(touched);
  KnownSet& known = sets_[mix(hash) & (kKnownSets - 1)];
  if (options.reach_once && known.hash == hash) return known.number;
  if (!reserve_rows(touched.count + 1)) return ~0u;
  u32 set = set_count_++;
  for (u32 i = 0; i < touched.count;) {
    u64 first = touched.lines[i], past = first + 1;
    for (++i; i < touched.count && touched.lines[i] == past; ++i) ++past;
    append_range(set, ReachRowKind::kTouched, first << stream::kReachLineBits, past << stream::kReachLineBits);
  }
  if (touched.stack_from < t->stack_end) append_range(set, ReachRowKind::kWhole, touched.stack_from, t->stack_end);
  known = {hash, set};
  return set;
}

// What the call has touched goes to the file. Without a row the call is taken to have touched everything.
void write_touched(Thread* t) {
  // `sooth record` may have cut the file behind the last row: threads may outlive the end of the program for a while.
  if (__atomic_load_n(&recorder.control->ended, __ATOMIC_ACQUIRE) != 0) return;
  TouchedLines& touched = *t->touched;
  SpinGuard guard(rows_lock_);
  u32 set = number_of_set(t, touched);
  if (set == ~0u || !reserve_rows(1)) return;
  append_row(ReachRowKind::kCall, set, t->id, t->call_count - 1);
}

void forget_touched(TouchedLines& touched) {
  if (touched.count > TouchedLines::kMost / 8) {
    zero_memory(touched.table, sizeof touched.table);
  } else {
    // Few: cheaper one by one. Every entry that a line could be in is free afterwards, because all lines go.
    for (u32 i = 0; i < touched.count; ++i) {
      u64 at = mix(touched.lines[i]);
      while (touched.table[at & (2 * TouchedLines::kMost - 1)] != 0)
        touched.table[at++ & (2 * TouchedLines::kMost - 1)] = 0;
    }
  }
  touched.count = 0;
  touched.recent[0] = touched.recent[1] = 0;
  touched.too_many = false;
  touched.stack_from = ~uptr{0};
}

void touch_line(TouchedLines& touched, u64 line) {
  if (touched.recent[0] == line + 1 || touched.recent[1] == line + 1) return;
  touched.recent[1] = touched.recent[0];
  touched.recent[0] = line + 1;
  for (u64 at = mix(line);; ++at) {
    u64& entry = touched.table[at & (2 * TouchedLines::kMost - 1)];
    if (entry == line + 1) return;
    if (entry != 0) continue;
    if (touched.count == TouchedLines::kMost) {
      touched.too_many = true;
      return;
    }
    entry = line + 1;
    touched.lines[touched.count++] = line;
    return;
  }
}

void touch(Thread* t, uptr address, u64 size) {
  TouchedLines* touched = t->touched;
  if (touched == nullptr || touched->too_many) return;
  if (address >= t->stack_begin && address < t->stack_end) {
    // Below is what the call itself keeps there. Of the frames above it is not known where a variable ends: all of
    // them.
    if (address + size > t->call_stack) touched->stack_from = t->call_stack;
    return;
  }
  u64 first = address >> stream::kReachLineBits, last = (address + size - 1) >> stream::kReachLineBits;
  if (last - first >= TouchedLines::kMost) touched->too_many = true;
  for (u64 line = first; line <= last && !touched->too_many; ++line) touch_line(*touched, line);
}

void begin_call(Thread* t, uptr function, uptr site) {
  t->call_pc = function;
  u32 row = intern_function(function);
  t->call_function = row == ~0u ? 0 : row;
  ++t->call_count;
  t->call_unknown = false;
  if (rows_ != nullptr && t->touched == nullptr) {
    t->touched = static_cast<TouchedLines*>(map_memory(sizeof(TouchedLines)));
    if (t->touched != nullptr) t->touched->stack_from = ~uptr{0};
  }
  write_event(t, site, Shape::of(Op::kCallBegin), t->call_function);
}

void end_call(Thread* t) {
  uptr site = t->call_frame != nullptr ? t->call_site : kNoSite;
  if (t->touched != nullptr) {
    if (!t->call_unknown && !t->touched->too_many) write_touched(t);
    forget_touched(*t->touched);
  }
  t->call_frame = nullptr;
  t->special &= ~kInCall;
  write_event(t, site, Shape::of(Op::kCallEnd), t->call_function);
}

// The same question comes again and again from the same places.
bool is_left_out(Thread* t, uptr pc) {
  u32 generation = module_generation();
  if (t->code_generation != generation) {
    zero_memory(t->code, sizeof t->code);
    t->code_generation = generation;
  }
  u64& known = t->code[(pc ^ pc >> 9) & (kKnownCode - 1)];
  if (known >> 1 != pc) known = pc << 1 | (code_kind(pc) == CodeKind::kLeftOut ? 1 : 0);
  return (known & 1) != 0;
}

}  // namespace

void choose_reach() {
  const char* reach = environment("SOOTH_REACH");
  reach_ = same_word(reach, "none") ? Reach::kNone : same_word(reach, "touched") ? Reach::kTouched : Reach::kEverything;
  recorder.watches_calls = reach_ != Reach::kNone && excludes_code();
}

bool start() {
  if (!recorder.watches_calls || reach_ != Reach::kTouched || recorder.directory == nullptr) return true;
  if (rows_ != nullptr) unmap_memory(rows_, stream::kMaxReachRows * sizeof(ReachRow));
  rows_ = nullptr;
  if (recorder.reaches_fd >= 0) sys_call(SYS_close, recorder.reaches_fd);
  recorder.reaches_fd = kNoDescriptor;
  if (sets_ == nullptr) sets_ = static_cast<KnownSet*>(map_memory(kKnownSets * sizeof(KnownSet)));
  long fd = open_recording_file(stream::kReachesFile);
  if (fd < 0 || sets_ == nullptr) return false;
  long rows =
      sys_call(SYS_mmap, 0, stream::kMaxReachRows * sizeof(ReachRow), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  recorder.reaches_fd = move_descriptor(static_cast<int>(fd));
  if (rows < 0 && rows > -4096) return false;
  rows_ = reinterpret_cast<ReachRow*>(rows);
  zero_memory(sets_, kKnownSets * sizeof(KnownSet));
  row_count_ = 1;  // the seal comes in front
  rows_reserved_ = set_count_ = 0;
  rows_lock_.reset();
  return true;
}

void entered(Thread* t, uptr pc) {
  Frame* frame = t->top - 1;
  if (t->call_frame != nullptr) {
    if (frame > t->call_frame) return;
    end_call(t);  // its function was left by a jump or an exception
  }
  if ((t->special & (kInCall | kStopped)) != 0 || !is_left_out(t, pc)) return;
  t->call_frame = frame;
  t->call_stack = frame->stack;
  t->call_site = frame->call;
  begin_call(t, pc, frame->call);
}

void left(Thread* t) {
  if (t->call_frame != nullptr && t->top <= t->call_frame) end_call(t);
}

void left_out(Thread* t, uptr pc, uptr address, u64 size) {
  if (!is_inside(t)) {
    if (!is_left_out(t, pc)) return;
    t->call_stack = reinterpret_cast<uptr>(__builtin_frame_address(0));
    begin_call(t, pc, kNoSite);
    t->special |= kInCall;  // not before: the begin is no event of the code that is left out
  }
  if (size != 0) touch(t, address, size);
}

void happened(Thread* t, uptr pc) {
  if (!is_left_out(t, pc)) end_call(t);
}

void thread_ends(Thread* t) {
  if (is_inside(t)) end_call(t);
}

void fiber_left(Thread* t) {
  if ((t->special & kInCall) != 0) end_call(t);
  t->call_unknown = true;
  if (t->touched != nullptr) forget_touched(*t->touched);
}

void resume_after_fork(Thread* t) {
  t->call_count = 0;
  if (!is_inside(t)) return;
  u32 in_call = t->special & kInCall;
  t->special &= ~kInCall;
  begin_call(t, t->call_pc, kNoSite);
  t->special |= in_call;
  t->call_unknown = true;  // what it touched before is in the parent's recording
}

}  // namespace sooth::rt::calls
