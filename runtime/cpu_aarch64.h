// cpu.h for AArch64. Included by it alone.
#pragma once

namespace sooth::rt {

inline constexpr unsigned kAddressBits = 48;

inline __attribute__((always_inline)) long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

inline void cpu_relax() { asm volatile("yield" ::: "memory"); }

inline constexpr bool kThreadLocalsBelow = false;
inline std::uintptr_t thread_pointer() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

// Eight bytes at a time where both sides allow; a compiler that is told not to (-fno-tree-loop-distribute-patterns)
// leaves the loops as they are.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  auto* t = static_cast<volatile std::uint8_t*>(to);
  auto* f = static_cast<const volatile std::uint8_t*>(from);
  if (((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 7) == 0)
    for (; bytes >= 8; bytes -= 8, t += 8, f += 8)
      *reinterpret_cast<volatile std::uint64_t*>(t) = *reinterpret_cast<const volatile std::uint64_t*>(f);
  for (; bytes > 0; --bytes) *t++ = *f++;
}

inline void fill_bytes(void* to, int byte, std::size_t bytes) {
  auto* t = static_cast<volatile std::uint8_t*>(to);
  const std::uint64_t word = 0x0101010101010101u * static_cast<std::uint8_t>(byte);
  if ((reinterpret_cast<std::uintptr_t>(to) & 7) == 0)
    for (; bytes >= 8; bytes -= 8, t += 8) *reinterpret_cast<volatile std::uint64_t*>(t) = word;
  for (; bytes > 0; --bytes) *t++ = static_cast<std::uint8_t>(byte);
}

// clone() has another order of arguments here: flags, stack, parent's word, thread pointer, child's word.
inline long spawn_thread(long flags, void* stack_end, void (*entry)()) {
  register long x8 asm("x8") = SYS_clone;
  register long x0 asm("x0") = flags;
  register void* x1 asm("x1") = stack_end;
  register long x2 asm("x2") = 0;
  register long x3 asm("x3") = 0;
  register long x4 asm("x4") = 0;
  register void (*x9)() asm("x9") = entry;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x30, xzr\n\t"
      "blr x9\n\t"
      "brk #1\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9)
      : "memory");
  return x0;
}

inline std::uintptr_t interrupted_pc(const ucontext_t& context) { return context.uc_mcontext.pc; }
inline std::uintptr_t interrupted_stack(const ucontext_t& context) { return context.uc_mcontext.sp; }

static_assert(SYS_futex == 98);
#define SOOTH_SYSCALL_BODY \
  "cmp x0, #98\n\t"        \
  "b.ne 2f\n\t"            \
  "b sooth_futex\n"        \
  "2:\n\t"                 \
  "mov x8, x0\n\t"         \
  "mov x0, x1\n\t"         \
  "mov x1, x2\n\t"         \
  "mov x2, x3\n\t"         \
  "mov x3, x4\n\t"         \
  "mov x4, x5\n\t"         \
  "mov x5, x6\n\t"         \
  "svc #0\n\t"             \
  "cmn x0, #4095\n\t"      \
  "b.cs 1f\n\t"            \
  "ret\n"                  \
  "1:\n\t"                 \
  "b sooth_set_errno"

}  // namespace sooth::rt
