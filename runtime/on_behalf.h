// What functions of libc read and write for their caller.
//
// Most of them do nothing else that matters to a recording. They are one row each:
//
//   SOOTH_ON_BEHALF(char*, inet_ntop, (int family, const void* from, char* to, socklen_t size), (family, from, to, size),
//                   on.in(from, address_size(family)), if (r != nullptr) on.out_text(to))
//
// result, name, parameters, arguments, what is read before the call, what is written behind it: `r` is the result. A row
// stands below the comment of its family, `// Family NAME: ...`, of which tests/programs has NAME_race.cc and
// NAME_norace.cc; docs/from-tsan.md is made from these by tools/tsan_functions.py.
#pragma once

#include <errno.h>

#include "runtime/blocking.h"
#include "runtime/intercept.h"
#include "runtime/options.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"

namespace sooth::rt {

// wrap_memory.cc: a block of the heap is about to be given back, at `pc`.
void block_freed(void* block, uptr pc);

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

// `limit`: as far as the function looks.
template <typename Character>
std::size_t length_of(const Character* s, std::size_t limit = ~std::size_t{0}) {
  std::size_t n = 0;
  while (n < limit && s[n] != 0) ++n;
  return n;
}
// With the end, if it is within the limit.
template <typename Character>
std::size_t bytes_of(const Character* s, std::size_t limit = ~std::size_t{0}) {
  std::size_t n = length_of(s, limit);
  return (n < limit ? n + 1 : n) * sizeof(Character);
}

// Memory that libc keeps between calls, for all threads. Reports would only have its address: it is told, when first
// used, what they call it.
class KeptByLibc {
 public:
  explicit constexpr KeptByLibc(const char* name) : name_(name) {}
  void tell(Thread* t, const void* p) {
    if (__atomic_exchange_n(&told_, p, __ATOMIC_RELAXED) != p)
      write_name(t, ObjectKind::kMemory, reinterpret_cast<uptr>(p), name_);
  }

 private:
  const char* name_;
  const void* told_ = nullptr;  // of which it was told last
};

// A call, for a thread and from a place. Does nothing when the thread is nullptr, and for memory at nullptr.
class OnBehalf {
 public:
  OnBehalf(Thread* t, uptr pc) : t_(t), pc_(pc) {}

  explicit operator bool() const { return t_ != nullptr; }
  Thread* thread() const { return t_; }
  uptr pc() const { return pc_; }

  void in(const void* p, std::size_t n) const { access(Op::kRead, p, n); }
  void out(const void* p, std::size_t n) const { access(Op::kWrite, p, n); }
  template <typename T>
  void in(const T* p) const {
    access(Op::kRead, p, sizeof *p);
  }
  template <typename T>
  void out(const T* p) const {
    access(Op::kWrite, p, sizeof *p);
  }
  void name(const void* p, KeptByLibc& kept) const {
    if (t_ != nullptr && p != nullptr) kept.tell(t_, p);
  }
  template <typename T>
  void in(const T* p, KeptByLibc& kept) const {
    name(p, kept);
    in(p);
  }
  template <typename T>
  void out(const T* p, KeptByLibc& kept) const {
    name(p, kept);
    out(p);
  }
  template <typename Character>
  void text(const Character* s, std::size_t limit = ~std::size_t{0}) const {
    if (t_ != nullptr && s != nullptr) in(s, bytes_of(s, limit));
  }
  template <typename Character>
  void out_text(const Character* s, std::size_t limit = ~std::size_t{0}) const {
    if (t_ != nullptr && s != nullptr) out(s, bytes_of(s, limit));
  }
  // Pointers, ended by one that is nullptr.
  template <typename T>
  void out_list(T* const* list) const {
    if (t_ != nullptr && list != nullptr) out(list, (pointers(list) + 1) * sizeof *list);
  }
  // ... and the texts that they point to.
  void out_texts(char* const* list) const {
    out_list(list);
    for (std::size_t i = 0; t_ != nullptr && list != nullptr && list[i] != nullptr; ++i) out_text(list[i]);
  }

 private:
  template <typename T>
  static std::size_t pointers(T* const* list) {
    std::size_t n = 0;
    while (list[n] != nullptr) ++n;
    return n;
  }
  void access(Op op, const void* p, std::size_t n) const {
    if (t_ != nullptr && p != nullptr) write_range(t_, pc_, op, reinterpret_cast<uptr>(p), n);
  }

  Thread* t_;
  uptr pc_;
};

// Gives errno back as it was: what the function has left there is its caller's.
class KeepErrno {
 public:
  KeepErrno() : value_(errno) {}
  ~KeepErrno() { errno = value_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int value_;
};

// Others run while it waits.
template <typename Call>
SOOTH_INLINE auto call_blocking(Call call) {
  Thread* t = current();
  if (t == nullptr || !turn::taken()) return call();
  Blocking blocking(t);
  return call();
}

#define SOOTH_ON_BEHALF_BY(call, result, name, parameters, arguments, before, ...) \
  SOOTH_REAL static ::sooth::rt::Real<result parameters> real_##name{#name};       \
  SOOTH_EXPORT result sooth_##name parameters asm(#name);                          \
  result sooth_##name parameters {                                                 \
    SOOTH_UNSAFE(name);                                                            \
    const ::sooth::rt::OnBehalf on(::sooth::rt::recorded_thread(), SOOTH_CALLER);  \
    before;                                                                        \
    [[maybe_unused]] result r = call([&] { return real_##name arguments; });       \
    if (on) {                                                                      \
      ::sooth::rt::KeepErrno keep;                                                 \
      __VA_ARGS__;                                                                 \
    }                                                                              \
    return r;                                                                      \
  }
// In a row: the result is memory of libc's.
#define SOOTH_NAME_RESULT(function)                                        \
  static ::sooth::rt::KeptByLibc kept_result("result of " #function "()"); \
  on.name(r, kept_result)
#define SOOTH_CALL(lambda) lambda()
#define SOOTH_ON_BEHALF(result, name, parameters, arguments, before, ...) \
  SOOTH_ON_BEHALF_BY(SOOTH_CALL, result, name, parameters, arguments, before, __VA_ARGS__)
// The same for functions that wait for other processes or machines.
#define SOOTH_ON_BEHALF_WAITING(result, name, parameters, arguments, before, ...) \
  SOOTH_ON_BEHALF_BY(::sooth::rt::call_blocking, result, name, parameters, arguments, before, __VA_ARGS__)

}  // namespace sooth::rt
