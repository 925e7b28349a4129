// What functions of libc read and write for their caller.
#pragma once

#include "runtime/options.h"
#include "runtime/stream_writer.h"

namespace sooth::rt {

// nullptr: not recorded.
SOOTH_INLINE Thread* recorded_thread() {
  Thread* t = current();
  return t == nullptr || t->busy != 0 || options.ignore_interceptors_accesses ? nullptr : t;
}

SOOTH_INLINE void reads(Thread* t, uptr pc, const void* p, std::size_t n) {
  write_range(t, pc, Op::kRead, reinterpret_cast<uptr>(p), n);
}
SOOTH_INLINE void writes(Thread* t, uptr pc, const void* p, std::size_t n) {
  write_range(t, pc, Op::kWrite, reinterpret_cast<uptr>(p), n);
}
SOOTH_INLINE void reads_text(Thread* t, uptr pc, const char* s) { reads(t, pc, s, text_length(s) + 1); }
SOOTH_INLINE void writes_text(Thread* t, uptr pc, const char* s) { writes(t, pc, s, text_length(s) + 1); }

}  // namespace sooth::rt
