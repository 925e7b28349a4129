#include "runtime/init.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/control.h"
#include "runtime/engine.h"
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/run_end.h"
#include "runtime/stream_writer.h"
#include "runtime/turn.h"
#include "schedule/protocol.h"

// A program may define it, as with ThreadSanitizer.
extern "C" __attribute__((weak, visibility("default"))) const char* __tsan_default_options();

namespace sooth::rt {
namespace {

bool initialized_ = false;

bool same_text(const char* text, const char* wanted) { return text != nullptr && text_equal(text, wanted); }

void at_exit() {
  if (Thread* t = current()) before_exit(t);
}

void at_quick_exit_() {
  if (Thread* t = current()) before_exit(t, false);
}

}  // namespace

bool is_plain_program() {
  const char* wanted = environment(control::kEngineVariable);
  recorder.locks_only = same_text(wanted, control::kLocksEngine);
  // What a program under Valgrind starts is not under it itself, and may have hooks.
  recorder.under_engine = same_text(wanted, control::kValgrindEngine) && engine::start();
  return recorder.locks_only || recorder.under_engine;
}

void initialize() {
  if (initialized_) return;
  initialized_ = true;
  start_recording();
  if (!recording()) return;
  parse_options(__tsan_default_options != nullptr ? __tsan_default_options() : nullptr, environment("TSAN_OPTIONS"),
                environment("SOOTH_OPTIONS"));
  if (recorder.locks_only) options.ignore_interceptors_accesses = true;
  u32 id = new_thread_id(nullptr, 0);
  set_thread_handle(id, static_cast<u64>(pthread_self()));
  Thread* t = new_thread();
  if (t == nullptr) fatal("out of memory for the first thread");
  attach_thread(t, id);
  if (!recorder.controlled) t->quantum = static_cast<u32>(options.quantum);
  watch_forks();
  watch_thread_ends();
  run_end::watch_crashes();
  // The first that is registered is the last to run.
  atexit(at_exit);
  at_quick_exit(at_quick_exit_);
}

void after_fork_in_child(Thread* t) {
  restart_atomics_after_fork();
  restart_semaphores_after_fork();
  restart_recording_after_fork();
  restart_threads_after_fork(t);
}

void before_exit(Thread* t, bool reports_leaks) {
  turn::ending(t, turn::Ending::kEnds);
  if (options.report_thread_leaks && reports_leaks) {
    for (u32 id = 1; id < thread_count(); ++id) {
      ThreadInfo& info = thread_info(id);
      // Those that still run may be on purpose; ThreadSanitizer is silent about them, too.
      if (info.state == static_cast<u32>(ThreadState::kEnded)) misuse(t, info.created_at, Misuse::kThreadLeak, id);
    }
  }
  if (recorder.serial) write_pending(t);
  if (recorder.controlled) controlled::finish(t);
  publish(t);
  finish_recording();
}

}  // namespace sooth::rt

SOOTH_EXPORT void __tsan_init() { sooth::rt::initialize(); }
