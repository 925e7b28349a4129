// How functions of libstdc++.so are wrapped, which is not instrumented: by their place in the ABI, as C functions.
#pragma once

#include "runtime/on_behalf.h"

namespace sooth::rt {

// Who calls the library at `pc`; nobody, when it calls itself.
OnBehalf library_caller(uptr pc);

}  // namespace sooth::rt

// A function whose arguments are all in registers, and which leaves its result, if it has one, in a register. `before` and
// the rest as in SOOTH_ON_BEHALF(); `s` is the object, a to e the other arguments, r the result.
#define SOOTH_LIBRARY(id, symbol, object, before, ...)                                                  \
  SOOTH_REAL static Real<uptr(object*, uptr, uptr, uptr, uptr, uptr)> real_##id{symbol};                \
  SOOTH_EXPORT uptr sooth_##id(object*, uptr, uptr, uptr, uptr, uptr) asm(symbol);                      \
  uptr sooth_##id(object* s, [[maybe_unused]] uptr a, [[maybe_unused]] uptr b, [[maybe_unused]] uptr c, \
                  [[maybe_unused]] uptr d, [[maybe_unused]] uptr e) {                                   \
    const OnBehalf on = ::sooth::rt::library_caller(SOOTH_CALLER);                                      \
    if (!on) return real_##id(s, a, b, c, d, e);                                                        \
    before;                                                                                             \
    on.thread()->library_call = reinterpret_cast<uptr>(__builtin_frame_address(0));                     \
    on.thread()->library_pc = on.pc();                                                                  \
    [[maybe_unused]] uptr r = real_##id(s, a, b, c, d, e);                                              \
    on.thread()->library_call = 0;                                                                      \
    KeepErrno keep;                                                                                     \
    __VA_ARGS__;                                                                                        \
    return r;                                                                                           \
  }
