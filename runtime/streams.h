// Streams of stdio as channels: what goes through their descriptors.
#pragma once

#include <stdio.h>

#include "runtime/blocking.h"
#include "runtime/descriptors.h"

namespace sooth::rt {

// The standard streams lead out of the program: what all threads print orders nobody.
inline bool is_channel(const FILE* file) { return file->_fileno > 2; }

// Before something is put in. It may stay in the buffer for a while; whoever empties that sends it on without a word.
inline void putting(Thread* t, uptr pc, const FILE* file) {
  if (t == nullptr || !is_channel(file)) return;
  descriptor_used(t, pc, file->_fileno);
  descriptor_sends(t, pc, file->_fileno);
}

// Runs a call that takes something out, and waits for it when the buffer is empty.
template <typename Call>
auto get(Thread* t, uptr pc, FILE* file, Call call) {
  constexpr int kAtEnd = 0x10;  // of _flags
  bool waits = turn::taken() && file->_IO_read_ptr >= file->_IO_read_end && file->_fileno >= 0 &&
               descriptor_may_block(file->_fileno);
  auto take = [&] {
    Blocking blocking(t, waits);
    return call();
  };
  if (is_channel(file)) descriptor_used(t, pc, file->_fileno);
  auto result = take();
  if (is_channel(file)) descriptor_received(t, pc, file->_fileno, (file->_flags & kAtEnd) != 0);
  return result;
}

}  // namespace sooth::rt
