// cpu.h for x86-64. Included by it alone.
#pragma once

namespace sooth::rt {

inline constexpr unsigned kAddressBits = 47;

inline __attribute__((always_inline)) long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline void cpu_relax() { __builtin_ia32_pause(); }

inline constexpr bool kThreadLocalsBelow = true;
inline std::uintptr_t thread_pointer() {
  std::uintptr_t pointer;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

inline void fill_bytes(void* to, int byte, std::size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
}

inline long spawn_thread(long flags, void* stack_end, void (*entry)()) {
  long result;
  register long parent_tid asm("r10") = 0;
  register long tls asm("r8") = 0;
  register void (*function)() asm("r9") = entry;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "call *%%r9\n\t"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(stack_end), "d"(0), "r"(parent_tid), "r"(tls), "r"(function)
      : "rcx", "r11", "memory");
  return result;
}

inline std::uintptr_t interrupted_pc(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
inline std::uintptr_t interrupted_stack(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

static_assert(SYS_futex == 202);
#define SOOTH_SYSCALL_BODY \
  "endbr64\n\t"            \
  "cmpq $202, %rdi\n\t"    \
  "je sooth_futex\n\t"     \
  "movq %rdi, %rax\n\t"    \
  "movq %rsi, %rdi\n\t"    \
  "movq %rdx, %rsi\n\t"    \
  "movq %rcx, %rdx\n\t"    \
  "movq %r8, %r10\n\t"     \
  "movq %r9, %r8\n\t"      \
  "movq 8(%rsp), %r9\n\t"  \
  "syscall\n\t"            \
  "cmpq $-4095, %rax\n\t"  \
  "jae 1f\n\t"             \
  "ret\n"                  \
  "1:\n\t"                 \
  "movq %rax, %rdi\n\t"    \
  "jmp sooth_set_errno"

}  // namespace sooth::rt
