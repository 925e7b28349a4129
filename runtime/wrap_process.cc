// Processes, modules and jumps.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <time.h>
#include <unistd.h>

#include "runtime/init.h"
#include "runtime/intercept.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"
#include "runtime/turn.h"

using namespace sooth;
using namespace sooth::rt;

namespace sooth::rt {

// Every fork of libc passes here, also those inside it (daemon, forkpty).
static void fork_parent() {
  // A handler that waits runs here, and not in the child as well.
  if (Thread* t = current()) deliver_pending_signals(t);
}

static void fork_child() {
  if (Thread* t = current()) after_fork_in_child(t);
}

void watch_forks() { pthread_atfork(fork_parent, nullptr, fork_child); }

}  // namespace sooth::rt

// Who wants something to run at the end of the process comes before it runs: by the thread that ends it.
// Nothing need be said before there are threads.
static bool at_exit_;

static void registers(uptr pc) {
  Thread* t = current();
  if (t == nullptr || t->busy != 0 || thread_count() < 2) return;
  __atomic_store_n(&at_exit_, true, __ATOMIC_RELAXED);
  write_event(t, pc, Shape::of(Op::kHappensBefore), reinterpret_cast<u64>(&at_exit_));
}

SOOTH_INTERCEPT(int, __cxa_atexit, void (*function)(void*), void* argument, void* module) {
  registers(SOOTH_CALLER);
  return real___cxa_atexit(function, argument, module);
}
// libc has it in the part that is linked into each module, so that a module that is unloaded takes its functions along. But
// programs that were linked with ThreadSanitizer's library take it from there: for these alone it has a version (exports.map),
// which a linker passes over and the loader finds.
static void call_at_exit(void* function) { reinterpret_cast<void (*)()>(function)(); }
SOOTH_EXPORT int sooth_atexit(void (*function)());
int sooth_atexit(void (*function)()) {
  registers(SOOTH_CALLER);
  return real___cxa_atexit(call_at_exit, reinterpret_cast<void*>(function), nullptr);
}
asm(".symver sooth_atexit, atexit@SOOTH_LINKED_WITH_LIBTSAN");

SOOTH_INTERCEPT(int, on_exit, void (*function)(int, void*), void* argument) {
  registers(SOOTH_CALLER);
  return real_on_exit(function, argument);
}

// The end of the process is a scheduling point, in front of what runs at exit and behind it (init.cc has the latter).
static void ending(uptr pc) {
  Thread* t = current();
  if (t == nullptr) return;
  turn::ending(t, turn::Ending::kBegins);
  // For whoever is used to it: other threads may go on for a while. Under a schedule they go on anyhow.
  if (options.atexit_sleep_ms > 0 && !turn::taken()) {
    timespec time = {options.atexit_sleep_ms / 1000, options.atexit_sleep_ms % 1000 * 1'000'000};
    sys_call(SYS_nanosleep, reinterpret_cast<long>(&time), 0);
  }
  if (__atomic_load_n(&at_exit_, __ATOMIC_RELAXED))
    write_event(t, pc, Shape::of(Op::kHappensAfter), reinterpret_cast<u64>(&at_exit_));
}

using Main = int(int, char**, char**);
static Main* main_ = nullptr;

static int run_main(int count, char** arguments, char** environment) {
  main_caller_ = SOOTH_CALLER;
  int status = main_(count, arguments, environment);
  ending(SOOTH_CALLER);
  return status;
}

// Returning from main is no call that could be wrapped.
SOOTH_INTERCEPT(int, __libc_start_main, Main* main, int count, char** arguments, void (*init)(), void (*fini)(),
                void (*rtld_fini)(), void* stack_end) {
  main_ = main;
  return real___libc_start_main(run_main, count, arguments, init, fini, rtld_fini, stack_end);
}

#define SOOTH_EXIT(name, before)                                            \
  SOOTH_REAL static Real<void(int)> real_##name{#name};                     \
  SOOTH_EXPORT __attribute__((noreturn)) void sooth_##name(int) asm(#name); \
  void sooth_##name(int status) {                                           \
    SOOTH_UNSAFE(name);                                                     \
    before;                                                                 \
    real_##name(status);                                                    \
    __builtin_unreachable();                                                \
  }
SOOTH_EXIT(exit, ending(SOOTH_CALLER))
SOOTH_EXIT(quick_exit, ending(SOOTH_CALLER))
// Nothing runs at such an exit, and nobody is reminded of threads.
#define SOOTH_BEFORE_END \
  if (Thread* t = current(); t != nullptr && t->busy == 0) before_exit(t, false)
SOOTH_EXIT(_exit, SOOTH_BEFORE_END)
SOOTH_EXIT(_Exit, SOOTH_BEFORE_END)

// The child has the memory and the locks of this moment, so which one it is matters to whatever others do.
static void about_to_fork(uptr pc) {
  if (Thread* t = current(); t != nullptr && t->busy == 0) begin_operation(t, pc);
}

SOOTH_INTERCEPT(pid_t, fork, void) {
  about_to_fork(SOOTH_CALLER);
  return real_fork();
}

// The child of a vfork would go on in the parent's memory, and so in its recording.
SOOTH_INTERCEPT(pid_t, vfork, void) {
  if (!recording()) return real_vfork();
  about_to_fork(SOOTH_CALLER);
  return real_fork();
}

SOOTH_INTERCEPT(int, dlclose, void* handle) {
  Thread* t = current();
  // The last write may be one to a variable that goes away.
  if (t != nullptr && recorder.serial) write_pending(t);
  int result = real_dlclose(handle);
  modules_unloaded();
  return result;
}

// Functions that are jumped out of never say that they end. The next hook looks at the stack pointer.
static void jumping() {
  Thread* t = current();
  if (t == nullptr) return;
  t->frames = t->bottom;
  t->handlers = 0;
  t->handles_crash = false;
  t->in_unsafe_call = false;
  t->special |= kJumped;
}

#define SOOTH_JUMP(name)                                                           \
  SOOTH_REAL static Real<void(void*, int)> real_##name{#name};                     \
  SOOTH_EXPORT __attribute__((noreturn)) void sooth_##name(void*, int) asm(#name); \
  void sooth_##name(void* target, int value) {                                     \
    jumping();                                                                     \
    real_##name(target, value);                                                    \
    __builtin_unreachable();                                                       \
  }
SOOTH_JUMP(longjmp)
SOOTH_JUMP(_longjmp)
SOOTH_JUMP(siglongjmp)
SOOTH_JUMP(__longjmp_chk)
