#include "runtime/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/control.h"
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/modules.h"
#include "runtime/on_behalf.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/run_end.h"
#include "runtime/signal_queue.h"
#include "runtime/stream_writer.h"
#include "runtime/turn.h"

namespace sooth::rt {
// The wrappers would record what we do to sets of our own.
SOOTH_REAL static Real<int(sigset_t*, int)> real_sigaddset{"sigaddset"};
SOOTH_REAL static Real<int(sigset_t*, int)> real_sigdelset{"sigdelset"};

namespace {

constexpr int kSignals = 65;

// What the program asked for, and whether our dispatcher stands in for it.
struct sigaction wanted_[kSignals];
bool dispatched_[kSignals];
// One message per signal: who raises it or sets its handler happens before the handler.
char messages_[kSignals];

struct Waiting {
  u64 set;            // bit n: signal n waits
  SignalQueue queue;  // under Valgrind, those that are never merged
  siginfo_t info[kSignals];
  ucontext_t context[kSignals];
};

u64 message_of(int number) { return reinterpret_cast<u64>(&messages_[number]); }

bool is_synchronous(int number, const siginfo_t* info) {
  bool fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP ||
               number == SIGSYS;
  return fault && info->si_code > 0;
}

bool in_library(const void* context) {
  return is_library_code(interrupted_pc(*static_cast<const ucontext_t*>(context)));
}

void call_handler(const struct sigaction& action, int number, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

// While it lives, a handler runs that must not call what it may have interrupted.
class HandlerRuns {
 public:
  HandlerRuns(Thread* t, bool careful, bool of_crash) : t_(t), counts_(careful), within_crash_(t->handles_crash) {
    if (counts_) ++t_->handlers;
    t_->handles_crash = of_crash || within_crash_;
  }
  ~HandlerRuns() {
    t_->handles_crash = within_crash_;
    // It may have jumped into this one, out of another.
    if (counts_ && t_->handlers != 0) --t_->handlers;
  }
  HandlerRuns(const HandlerRuns&) = delete;
  HandlerRuns& operator=(const HandlerRuns&) = delete;

 private:
  Thread* t_;
  bool counts_;
  bool within_crash_;
};

// Who gets one of these is about to die, whoever sent it.
bool ends_program(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP ||
         number == SIGSYS || number == SIGABRT;
}

// The handler as a part of thread t: behind whatever raised the signal, on top of the stack it interrupted.
void run_handler(Thread* t, int number, siginfo_t* info, void* context) {
  struct sigaction action = wanted_[number];
  if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL) return;
  int saved_errno = errno;
  Frame* floor = t->frames;
  Frame* top = t->top;
  t->frames = top;
  write_event(t, reinterpret_cast<uptr>(action.sa_handler), Shape::of(Op::kHappensAfter), message_of(number));
  bool own = t->raises == static_cast<u32>(number);  // what the thread calls itself may change errno
  {
    HandlerRuns runs(t, !(own && t->raises_only) && !t->waits_for_signals, ends_program(number));
    call_handler(action, number, info, context);
  }
  if (current() != t) return;
  // A call that only waits for signals says itself that one came.
  if (errno != saved_errno && !own && !t->waits_for_signals && !is_synchronous(number, info) &&
      options.report_signal_unsafe)
    misuse(t, reinterpret_cast<uptr>(action.sa_handler), Misuse::kSignalErrno, static_cast<u64>(number));
  if ((action.sa_flags & SA_RESTART) == 0) ++t->interruptions;
  if (recorder.serial) write_pending(t);
  t->frames = floor;
  t->top = top;
  if (top < t->low) t->low = top;
  t->special |= kStackChanged;
  errno = saved_errno;
}

// Instances of these are never merged, nor may we: while one waits the signal stays blocked, and the kernel queues the
// next; or, under Valgrind, we do.
bool is_queued(int number) { return number >= SIGRTMIN; }

void defer(Thread* t, int number, const siginfo_t* info, void* context) {
  if (t->signal_data == nullptr) t->signal_data = map_memory(sizeof(Waiting));
  auto* waiting = static_cast<Waiting*>(t->signal_data);
  if (waiting == nullptr) return;
  copy_memory(&waiting->context[number], context, sizeof(ucontext_t));
  if (is_queued(number) && recorder.under_engine) {
    u64 all = ~u64{0}, old;
    sys_call(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&old), sizeof all);
    waiting->queue.push(*info);
    sys_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&old), 0, sizeof old);
  } else {
    waiting->info[number] = *info;
    if (is_queued(number)) real_sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, number);
    __atomic_fetch_or(&waiting->set, u64{1} << (number - 1), __ATOMIC_RELAXED);
  }
  __atomic_store_n(&t->pending_signals, 1, __ATOMIC_RELAXED);
  // The hook that was interrupted, or the next one, sees this and calls attend(); not one that finds its access
  // recorded already.
  t->limit = nullptr;
  zero_memory(t->repeats, sizeof t->repeats);
  turn::notice_signal(t);
}

bool others_wait(const Thread* t) {
  return t->signal_data != nullptr && !static_cast<const Waiting*>(t->signal_data)->queue.is_empty();
}

void dispatch(int number, siginfo_t* info, void* context) {
  Thread* t = current();
  if (t == nullptr) {
    const struct sigaction& action = wanted_[number];
    if (action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL) call_handler(action, number, info, context);
    return;
  }
  if (is_synchronous(number, info)) {
    // If it is the write that waits for its value, there is none yet, and reading it would fault as well.
    if (recorder.serial) write_pending_unknown(t);
    run_handler(t, number, info, context);
    return;
  }
  // Valgrind does not take the mask that defer() leaves: a handler may run while others have the turn.
  if (recorder.under_engine && !recorder.controlled && t->raises != static_cast<u32>(number)) {
    stop_recording(stream::StopReason::kSignalUnderValgrind);
    t->special |= kStopped;  // what it did before counts, nothing that follows in its stream
  }
  // When it comes is not up to the schedule, unless the thread has sent it to itself.
  if (recorder.controlled && t->raises != static_cast<u32>(number))
    controlled::log_external(t->id, sooth::control::External::kSignal);
  if (turn::is_outside(t)) {
    // Blocked in a call without the turn: the handler needs it.
    turn::enter(t);
    run_handler(t, number, info, context);
    turn::leave(t);
    return;
  }
  if (t->busy != 0 || in_library(context) || (is_queued(number) && others_wait(t))) {
    defer(t, number, info, context);
    return;
  }
  run_handler(t, number, info, context);
}

}  // namespace

SOOTH_REAL static Real<int(int, const sigset_t*, sigset_t*)> real_pthread_sigmask{"pthread_sigmask"};

// The one that is next; false: none waits.
static bool take_waiting(Waiting* waiting, siginfo_t& info, int& number) {
  u64 set = __atomic_load_n(&waiting->set, __ATOMIC_RELAXED);
  if (set == 0) {
    if (!waiting->queue.pop(info)) return false;
    number = info.si_signo;
    return true;
  }
  number = __builtin_ctzll(set) + 1;
  info = waiting->info[number];
  __atomic_fetch_and(&waiting->set, ~(u64{1} << (number - 1)), __ATOMIC_RELAXED);
  return true;
}

void deliver_pending_signals(Thread* t) {
  auto* waiting = static_cast<Waiting*>(t->signal_data);
  if (waiting == nullptr || t->busy != 0) return;
  t->pending_signals = 0;
  siginfo_t info;
  for (int number; take_waiting(waiting, info, number);) {
    // As the kernel does: the signal itself and the handler's mask are blocked while it runs.
    sigset_t mask = wanted_[number].sa_mask, old;
    if ((wanted_[number].sa_flags & SA_NODEFER) == 0) real_sigaddset(&mask, number);
    real_pthread_sigmask(SIG_BLOCK, &mask, &old);
    run_handler(t, number, &info, &waiting->context[number]);
    if (is_queued(number) && !recorder.under_engine) real_sigdelset(&old, number);  // since defer()
    real_pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
}

void signal_received(Thread* t, uptr pc, int number) {
  if (number > 0 && number < kSignals) write_event(t, pc, Shape::of(Op::kHappensAfter), message_of(number));
}

void report_unsafe_call(Thread* t, uptr pc, u64 call) {
  if (!t->in_unsafe_call && t->busy == 0 && options.report_signal_unsafe)
    misuse(t, pc, Misuse::kSignalUnsafe, call + (t->handles_crash ? sooth::kInCrashHandler : 0));
}

bool a_handler_may_run() {
  for (int number = 1; number < kSignals; ++number) {
    switch (number) {
      case SIGSEGV:
      case SIGBUS:
      case SIGFPE:
      case SIGILL:
      case SIGTRAP:
      case SIGSYS:
      case SIGABRT:
      case SIGPIPE:
      case SIGINT:
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
      case SIGXCPU:
      case SIGXFSZ: continue;
      default:
        if (dispatched_[number]) return true;
    }
  }
  return false;
}

HandlersBlocked::HandlersBlocked(Thread* t) {
  u64 all = ~u64{0};
  sys_call(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&old_), sizeof all);
  deliver_pending_signals(t);
}

HandlersBlocked::~HandlersBlocked() {
  sys_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&old_), 0, sizeof old_);
}

namespace {

SOOTH_REAL Real<int(int, const struct sigaction*, struct sigaction*)> real_sigaction_{"sigaction"};

int set_action(Thread* t, uptr pc, int number, const struct sigaction* action, struct sigaction* old) {
  if (number <= 0 || number >= kSignals) return real_sigaction_(number, action, old);
  if (t != nullptr && action != nullptr) write_event(t, pc, Shape::of(Op::kHappensBefore), message_of(number));
  struct sigaction before = wanted_[number];
  bool ours = dispatched_[number];
  struct sigaction real_old;
  if (action == nullptr) {
    int result = real_sigaction_(number, nullptr, &real_old);
    bool stands_in = (real_old.sa_flags & SA_SIGINFO) != 0 && real_old.sa_sigaction == dispatch;
    if (old != nullptr)
      *old = result == 0 && ((ours && stands_in) || run_end::is_watching(real_old)) ? before : real_old;
    return result;
  }
  struct sigaction installed = *action;
  bool dispatches = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
  if (dispatches) {
    installed.sa_sigaction = dispatch;
    installed.sa_flags |= SA_SIGINFO;
    // In place before the kernel may call us.
    wanted_[number] = *action;
  }
  int result = real_sigaction_(number, &installed, &real_old);
  if (result != 0) {
    wanted_[number] = before;
    return result;
  }
  wanted_[number] = *action;
  dispatched_[number] = dispatches;
  if (old != nullptr)
    *old =
        ((real_old.sa_flags & SA_SIGINFO) != 0 && real_old.sa_sigaction == dispatch) || run_end::is_watching(real_old)
            ? before
            : real_old;
  return 0;
}

sighandler_t set_handler(uptr pc, int number, sighandler_t handler, int flags) {
  struct sigaction action, old;
  zero_memory(&action, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  return set_action(current(), pc, number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

void raising(Thread* t, uptr pc, int number) {
  if (number > 0 && number < kSignals) write_event(t, pc, Shape::of(Op::kHappensBefore), message_of(number));
}

}  // namespace
}  // namespace sooth::rt

using namespace sooth::rt;
using sooth::Op;

SOOTH_EXPORT int sooth_sigaction(int number, const struct sigaction* action, struct sigaction* old) asm("sigaction");
int sooth_sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  if (!recording()) return real_sigaction_(number, action, old);
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  on.in(action);
  int result = set_action(current(), SOOTH_CALLER, number, action, old);
  if (result == 0) on.out(old);
  return result;
}

SOOTH_INTERCEPT(sighandler_t, signal, int number, sighandler_t handler) {
  if (!recording()) return real_signal(number, handler);
  return set_handler(SOOTH_CALLER, number, handler, SA_RESTART);
}
SOOTH_INTERCEPT(sighandler_t, bsd_signal, int number, sighandler_t handler) {
  if (!recording()) return real_bsd_signal(number, handler);
  return set_handler(SOOTH_CALLER, number, handler, SA_RESTART);
}
SOOTH_INTERCEPT(sighandler_t, sysv_signal, int number, sighandler_t handler) {
  if (!recording()) return real_sysv_signal(number, handler);
  return set_handler(SOOTH_CALLER, number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

// A handler that waits came before the mask changes.
static void mask_changes() {
  Thread* t = current();
  if (t != nullptr && t->pending_signals != 0) deliver_pending_signals(t);
}
template <typename Call>
static int change_mask(uptr pc, const sigset_t* set, const sigset_t* old, Call call) {
  mask_changes();
  const OnBehalf on(recorded_thread(), pc);
  on.in(set);
  int result = call();
  if (result == 0) on.out(old);
  return result;
}
SOOTH_EXPORT int sooth_pthread_sigmask(int how, const sigset_t* set, sigset_t* old) asm("pthread_sigmask");
int sooth_pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  return change_mask(SOOTH_CALLER, set, old, [&] { return real_pthread_sigmask(how, set, old); });
}
SOOTH_INTERCEPT(int, sigprocmask, int how, const sigset_t* set, sigset_t* old) {
  return change_mask(SOOTH_CALLER, set, old, [&] { return real_sigprocmask(how, set, old); });
}
SOOTH_INTERCEPT(int, sigblock, int mask) {
  mask_changes();
  return real_sigblock(mask);
}
SOOTH_INTERCEPT(int, sigsetmask, int mask) {
  mask_changes();
  return real_sigsetmask(mask);
}

// `to_itself`: the handler may run before the call returns, in this thread.
template <typename Call>
static int send(uptr pc, int number, bool to_itself, bool raise, Call call) {
  Thread* t = current();
  if (t == nullptr) return call();
  raising(t, pc, number);
  u32 before = t->raises;
  bool only = t->raises_only;
  if (to_itself) {
    t->raises = static_cast<u32>(number);
    t->raises_only = raise;
  }
  int result = call();
  t->raises = before;
  t->raises_only = only;
  return result;
}
SOOTH_INTERCEPT(int, raise, int number) {
  return send(SOOTH_CALLER, number, true, true, [&] { return real_raise(number); });
}
SOOTH_INTERCEPT(int, kill, pid_t pid, int number) {
  return send(SOOTH_CALLER, number, pid == getpid(), false, [&] { return real_kill(pid, number); });
}
SOOTH_INTERCEPT(int, pthread_kill, pthread_t thread, int number) {
  return send(SOOTH_CALLER, number, thread == pthread_self(), false, [&] { return real_pthread_kill(thread, number); });
}
SOOTH_INTERCEPT(int, sigqueue, pid_t pid, int number, const union sigval value) {
  return send(SOOTH_CALLER, number, pid == getpid(), false, [&] { return real_sigqueue(pid, number, value); });
}
SOOTH_INTERCEPT(int, pthread_sigqueue, pthread_t thread, int number, const union sigval value) {
  return send(SOOTH_CALLER, number, thread == pthread_self(), false,
              [&] { return real_pthread_sigqueue(thread, number, value); });
}

// These return when a signal was taken: whoever sent it comes first. Their handlers run before they return.
SOOTH_INTERCEPT(int, pause, void) {
  Thread* t = current();
  if (t == nullptr) return real_pause();
  deliver_pending_signals(t);
  turn::leave(t);
  int result = real_pause();
  turn::enter(t);
  return result;
}
SOOTH_INTERCEPT(int, sigsuspend, const sigset_t* mask) {
  Thread* t = current();
  if (t == nullptr) return real_sigsuspend(mask);
  deliver_pending_signals(t);
  turn::leave(t);
  t->waits_for_signals = true;
  int result = real_sigsuspend(mask);
  t->waits_for_signals = false;
  turn::enter(t);
  return result;
}
SOOTH_INTERCEPT(int, sigwait, const sigset_t* set, int* number) {
  Thread* t = current();
  if (t == nullptr) return real_sigwait(set, number);
  turn::leave(t);
  int result = real_sigwait(set, number);
  turn::enter(t);
  if (result != 0) return result;
  signal_received(t, SOOTH_CALLER, *number);
  OnBehalf(recorded_thread(), SOOTH_CALLER).out(number);
  return result;
}
SOOTH_INTERCEPT(int, sigwaitinfo, const sigset_t* set, siginfo_t* info) {
  Thread* t = current();
  if (t == nullptr) return real_sigwaitinfo(set, info);
  turn::leave(t);
  int result = real_sigwaitinfo(set, info);
  turn::enter(t);
  if (result > 0) signal_received(t, SOOTH_CALLER, result);
  if (result > 0) OnBehalf(recorded_thread(), SOOTH_CALLER).out(info);
  return result;
}
SOOTH_INTERCEPT(int, sigtimedwait, const sigset_t* set, siginfo_t* info, const struct timespec* timeout) {
  Thread* t = current();
  if (t == nullptr) return real_sigtimedwait(set, info, timeout);
  u64 end = virtual_clock::is_on() && timeout != nullptr && timeout->tv_sec >= 0 ? virtual_clock::after(*timeout) : 0;
  turn::leave(t);
  int result = real_sigtimedwait(set, info, timeout);
  turn::enter(t);
  // It waits in real time, which virtual time follows.
  if (result == -1 && errno == EAGAIN && end < virtual_clock::kNever) virtual_clock::advance_to(end);
  if (result > 0) signal_received(t, SOOTH_CALLER, result);
  if (result > 0) OnBehalf(recorded_thread(), SOOTH_CALLER).out(info);
  return result;
}
