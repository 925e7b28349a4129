// What the run time library needs of the kernel and the compiler. Nothing here allocates from the program's heap, takes
// a lock of libc, or calls a function that the library interposes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "runtime/cpu.h"

namespace sooth::rt {

using uptr = std::uintptr_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

#define SOOTH_LIKELY(x) __builtin_expect(!!(x), 1)
#define SOOTH_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SOOTH_NOINLINE __attribute__((noinline, cold))
#define SOOTH_INLINE inline __attribute__((always_inline))

// A system call without errno: the result, or minus the error number.
SOOTH_INLINE long sys_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return kernel_call(number, a, b, c, d, e, f);
}

// Fresh zeroed memory, or nullptr.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

// Waits while *word is `expected`, at most until the deadline (nullptr: for ever; CLOCK_MONOTONIC). Returns 0 or an
// error number.
int futex_wait(const u32* word, u32 expected, const timespec* monotonic_deadline = nullptr);
void futex_wake(const u32* word, int count);
// clock_gettime(), which the library interposes.
void read_clock(int clock, struct timespec* time);

// Writes "sooth: " TEXT... to standard error, in one call: the program's own output is never mixed into.
void warn(const char* a, const char* b = "", const char* c = "", const char* d = "");
// As warn(), and ends the process with status 70: a broken invariant of ours.
[[noreturn]] void fatal(const char* a, const char* b = "");

// A short critical section of the library. The owner never blocks or calls out, so spinning with a yield is enough.
class SpinLock {
 public:
  constexpr SpinLock() = default;
  SOOTH_INLINE void lock() {
    if (SOOTH_UNLIKELY(__atomic_exchange_n(&word_, 1, __ATOMIC_ACQUIRE) != 0)) lock_slow();
  }
  SOOTH_INLINE void unlock() { __atomic_store_n(&word_, 0, __ATOMIC_RELEASE); }
  // In the child of a fork, whose other threads are gone.
  void reset() { word_ = 0; }

 private:
  SOOTH_NOINLINE void lock_slow();
  u32 word_ = 0;
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~SpinGuard() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

// Small replacements of what the library interposes.
std::size_t text_length(const char* text);
bool text_equal(const char* a, const char* b);
void copy_memory(void* to, const void* from, std::size_t bytes);
void zero_memory(void* to, std::size_t bytes);
// Appends `text` at `to` (of `room` bytes), always terminated; returns the new end.
char* append_text(char* to, char* end, const char* text);
char* append_number(char* to, char* end, u64 number, unsigned base = 10);

// By /proc: is the address in memory that other processes may have as well? If nobody can say, it is. Slow.
bool is_shared_memory(uptr address);

}  // namespace sooth::rt
