// Puts one record together behind the cursor of a thread: see stream_writer.h.
#pragma once

#include "runtime/recorder.h"
#include "runtime/thread.h"

namespace sooth::rt {

// A record under construction, at its place in the stream: what is behind the cursor is zero. At most kMaxRecordBytes,
// but for names and stacks, which say how much room they take.
class Builder {
 public:
  SOOTH_INLINE Builder(Thread* t, u16 control) : thread_(t), end_(t->cursor + 2), control_(control) {}
  SOOTH_INLINE void put8(u8 byte) { *end_++ = byte; }
  SOOTH_INLINE void put16(u16 word) { put_bytes(word, 2); }
  // `number` has no more bytes than `count`.
  SOOTH_INLINE void put_bytes(u64 number, u32 count) {
    __builtin_memcpy(end_, &number, 8);
    end_ += count;
  }
  SOOTH_INLINE void put_varint(u64 number) {
    for (; SOOTH_UNLIKELY(number >= 0x80); number >>= 7) put8(static_cast<u8>(number | 0x80));
    put8(static_cast<u8>(number));
  }
  SOOTH_INLINE void put_ticket() {
    u64 ticket = take_ticket();
    put_varint(ticket - thread_->last_ticket);
    thread_->last_ticket = ticket;
  }
  // The control word last: see the top of stream_writer.h.
  SOOTH_INLINE void commit() {
    asm volatile("" ::: "memory");
    __builtin_memcpy(thread_->cursor, &control_, 2);
    thread_->cursor = end_;
  }

 private:
  Thread* thread_;
  u8* end_;
  u16 control_;
};

// What a stream remembers, and the runs that need no more: see stream::kRuns.
SOOTH_INLINE u64& remembered(Thread* t, uptr address) { return t->remembered[stream::place_of(address)]; }
// An event through this slot, or a kBranch with this control word, is what comes next.
SOOTH_INLINE bool is_expected(const Thread* t, u32 word) { return t->following[t->context] == word; }
// It came, and was written.
SOOTH_INLINE void follow(Thread* t, u32 word) {
  t->following[t->context] = static_cast<u16>(word);
  t->context = stream::next_context(t->context, word);
}
// It came, and all of it was expected.
SOOTH_INLINE void put_expected(Thread* t, u32 word) {
  constexpr u16 kFirst = static_cast<u16>(stream::kEscapeCode << stream::kSlotBits | (stream::kRuns + 1));
  constexpr u16 kLast = static_cast<u16>(stream::kEscapeCode << stream::kSlotBits | (stream::kDeepRecords - 1));
  t->context = stream::next_context(t->context, word);
  u8* cursor = t->cursor;
  u16 run;
  __builtin_memcpy(&run, cursor - 2, 2);
  if (SOOTH_LIKELY(t->run_end == cursor) && SOOTH_LIKELY(run != kLast)) {
    ++run;
    __builtin_memcpy(cursor - 2, &run, 2);
    return;
  }
  run = kFirst;
  __builtin_memcpy(cursor, &run, 2);
  t->cursor = t->run_end = cursor + 2;
}

// Bytes of n without leading zeros: 0 to 8.
SOOTH_INLINE u32 full_length(u64 n) { return n == 0 ? 0 : (64u - static_cast<u32>(__builtin_clzll(n)) + 7) / 8; }

}  // namespace sooth::rt
