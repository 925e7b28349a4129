// What the run time library has to say in the words of a processor, one header for each. None of it calls anything.
//
//   kAddressBits           of the addresses that programs have
//   kernel_call()          a system call without errno: the result, or minus the error number
//   cpu_relax()            to a loop that waits for another thread
//   thread_pointer()       what thread-local variables are addressed by
//   kThreadLocalsBelow     whether those that a thread begins with lie below it, or above
//   copy_bytes()           forwards, and never by a call of memcpy()
//   fill_bytes()           likewise, of memset()
//   spawn_thread()         starts a function on a stack of its own, in a thread that shares everything with this one
//   interrupted_pc(), interrupted_stack()    of what a signal interrupted
//   SOOTH_SYSCALL_BODY     the instructions of libc's syscall(): futexes to sooth_futex() with all arguments in place,
//                          anything else to the kernel without a frame in between, errors to sooth_set_errno()
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "runtime/cpu_x86_64.h"
#elif defined(__aarch64__)
#include "runtime/cpu_aarch64.h"
#else
#error "the run time library knows x86-64 and AArch64"
#endif
