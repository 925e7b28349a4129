// What inserting and extracting does to a stream of libstdc++.so, which is not instrumented. It follows from the library's
// ABI.
//
// The standard streams (std::cout and its kin) may be used by several threads at once; any other one may not.
#pragma once

#include <dlfcn.h>

#include "runtime/on_behalf.h"

namespace sooth::rt {

// Symbols of the library, under the address that the program uses.
inline bool is_standard_stream(const void* stream) {
  static constexpr const char* kNames[] = {"_ZSt4cout", "_ZSt3cin", "_ZSt4cerr", "_ZSt4clog"};
  static const void* addresses[4];
  static bool known;
  if (SOOTH_UNLIKELY(!__atomic_load_n(&known, __ATOMIC_ACQUIRE))) {
    for (int i = 0; i < 4; ++i) __atomic_store_n(&addresses[i], dlsym(RTLD_DEFAULT, kNames[i]), __ATOMIC_RELAXED);
    __atomic_store_n(&known, true, __ATOMIC_RELEASE);
  }
  for (const void* const& address : addresses)
    if (__atomic_load_n(&address, __ATOMIC_RELAXED) == stream) return true;
  return false;
}

// What a stream has of std::ios_base and std::basic_ios, as far as it matters.
struct StreamState {
  void* functions;
  long precision, width;
  u32 flags, exceptions, state;
  char other[196];
  struct Buffer* buffer;
};
static_assert(__builtin_offsetof(StreamState, state) == 32 && __builtin_offsetof(StreamState, buffer) == 232);
struct Buffer {
  void* functions;
  char *in_begin, *in, *in_end, *out_begin, *out, *out_end;
};

// The place in the buffer that bytes come next from, or go next to, has moved: it was written.
inline void tell_moves(const OnBehalf& on, const Buffer& was, const Buffer* buffer) {
  if (buffer->out != was.out) on.out(&buffer->out);
  if (buffer->in != was.in) on.out(&buffer->in);
}

// A stream in front of a call, for what has become of it. Places that the call has moved were written, whatever else.
class StreamUse {
 public:
  StreamUse(const OnBehalf& on, const void* stream) {
    if (is_standard_stream(stream)) return;
    auto* functions = *static_cast<const char* const*>(stream);
    long to_base = *reinterpret_cast<const long*>(functions - 24);  // of the virtual base
    state_ = reinterpret_cast<StreamState*>(reinterpret_cast<uptr>(stream) + static_cast<uptr>(to_base));
    buffer_ = state_->buffer;
    if (buffer_ != nullptr) was_ = *buffer_;
    on.in(&state_->state);
  }
  void over(const OnBehalf& on) const {
    if (buffer_ == nullptr || state_->buffer != buffer_) return;
    tell_moves(on, was_, buffer_);
  }
  // Numbers and texts set the width back to 0 in any case.
  void formatted(const OnBehalf& on) const {
    if (state_ != nullptr) on.out(&state_->width);
    over(on);
  }

 private:
  StreamState* state_ = nullptr;
  Buffer* buffer_ = nullptr;
  Buffer was_{};
};

}  // namespace sooth::rt
