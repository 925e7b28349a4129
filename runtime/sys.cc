#include "runtime/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

namespace sooth::rt {

void* map_memory(std::size_t bytes) {
  long r = sys_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return r < 0 && r > -4096 ? nullptr : reinterpret_cast<void*>(r);
}

void unmap_memory(void* memory, std::size_t bytes) {
  sys_call(SYS_munmap, reinterpret_cast<long>(memory), static_cast<long>(bytes));
}

int futex_wait(const u32* word, u32 expected, const timespec* deadline) {
  // WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, so that spurious wake-ups do not prolong the wait.
  long r = sys_call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                    reinterpret_cast<long>(deadline), 0, static_cast<long>(FUTEX_BITSET_MATCH_ANY));
  return static_cast<int>(-r);
}

void futex_wake(const u32* word, int count) {
  sys_call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count);
}

void read_clock(int clock, struct timespec* time) { sys_call(SYS_clock_gettime, clock, reinterpret_cast<long>(time)); }

void SpinLock::lock_slow() {
  for (unsigned spins = 0;; ++spins) {
    if (__atomic_load_n(&word_, __ATOMIC_RELAXED) == 0 && __atomic_exchange_n(&word_, 1, __ATOMIC_ACQUIRE) == 0) return;
    // The owner may have been preempted.
    if (spins < 64)
      cpu_relax();
    else
      sys_call(SYS_sched_yield);
  }
}

std::size_t text_length(const char* text) {
  std::size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}

bool text_equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

void copy_memory(void* to, const void* from, std::size_t bytes) { copy_bytes(to, from, bytes); }

void zero_memory(void* to, std::size_t bytes) { fill_bytes(to, 0, bytes); }

char* append_text(char* to, char* end, const char* text) {
  while (*text != 0 && to + 1 < end) *to++ = *text++;
  if (to < end) *to = 0;
  return to;
}

char* append_number(char* to, char* end, u64 number, unsigned base) {
  char digits[65];
  char* d = digits + sizeof digits - 1;
  *d = 0;
  do {
    *--d = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  return append_text(to, end, d);
}

void warn(const char* a, const char* b, const char* c, const char* d) {
  char line[1024];
  char* end = line + sizeof line - 1;
  char* p = line;
  for (const char* part : {"sooth: ", a, b, c, d}) p = append_text(p, end, part);
  *p++ = '\n';
  sys_call(SYS_write, 2, reinterpret_cast<long>(line), p - line);
}

void fatal(const char* a, const char* b) {
  warn("internal error: ", a, b);
  sys_call(SYS_exit_group, 70);
  __builtin_unreachable();
}

namespace {

// Reads lines like "7f00aa000000-7f00aa001000 rw-s ..." byte by byte.
class MapsReader {
 public:
  explicit MapsReader(uptr address) : address_(address) {}
  // True: this byte was the last of what is to be known of the mapping at the address, and it is shared.
  bool takes(char c) {
    if (c == '\n') {
      begin_ = end_ = 0;
      field_ = column_ = 0;
      return false;
    }
    if (c == '-' && field_ == 0) {
      field_ = 1;
      return false;
    }
    if (c == ' ') {
      ++field_;
      return false;
    }
    u32 digit = static_cast<u32>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (field_ == 0) begin_ = begin_ << 4 | digit;
    if (field_ == 1) end_ = end_ << 4 | digit;
    constexpr u32 kPermissions = 4;
    return field_ == 2 && ++column_ == kPermissions && c == 's' && begin_ <= address_ && address_ < end_;
  }

 private:
  uptr address_;
  uptr begin_ = 0, end_ = 0;
  u32 field_ = 0, column_ = 0;
};

}  // namespace

bool is_shared_memory(uptr address) {
  long fd = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  MapsReader reader(address);
  char text[1024];
  bool shared = false;
  long length;
  while (!shared && (length = sys_call(SYS_read, fd, reinterpret_cast<long>(text), sizeof text)) > 0) {
    for (long i = 0; i < length && !shared; ++i) shared = reader.takes(text[i]);
  }
  sys_call(SYS_close, fd);
  return shared;
}

}  // namespace sooth::rt
