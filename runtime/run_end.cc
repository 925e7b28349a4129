#include "runtime/run_end.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/control.h"
#include "runtime/intercept.h"
#include "runtime/loaded_code.h"
#include "runtime/modules.h"
#include "runtime/recorder.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"
#include "runtime/turn.h"

namespace sooth::rt::run_end {

using sooth::control::BlockedOn;
using sooth::control::RecordKind;

namespace {

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
constexpr u32 kMostFrames = 64;

// Appends a line to the file `end`.
void write_line(const char* line, const char* end) {
  long fd = recorder.directory == nullptr ? -1 : append_recording_file(stream::kEndFile);
  if (fd < 0) return;
  sys_call(SYS_write, fd, reinterpret_cast<long>(line), end - line);
  sys_call(SYS_close, fd);
}

// "delay 1000000": nanoseconds for which threads were kept from running.
void write_delay() {
  char line[64];
  char* end = line + sizeof line - 1;
  char* p = append_number(append_text(line, end, "delay "), end, turn::longest_delay());
  *p++ = '\n';
  if (turn::taken() && turn::longest_delay() != 0) write_line(line, p);
}

char* append_site(char* to, char* end, uptr pc) {
  u32 site = intern_site(pc);
  return site == ~0u ? to : append_number(append_text(to, end, " "), end, site);
}

// Whether there is code of a loaded module at this address.
bool is_code(uptr pc) {
  LoadedCode code;
  if (!find_loaded_code(pc, code)) return false;
  uptr offset = pc - code.bias;
  for (u32 i = 0; i < code.segment_count; ++i) {
    const auto& h = code.segments[i];
    if (h.p_type == PT_LOAD && (h.p_flags & PF_X) != 0 && offset >= h.p_vaddr && offset - h.p_vaddr < h.p_memsz)
      return true;
  }
  return false;
}

// Whether an instruction that calls something ends in front of it.
bool is_behind_call(uptr address) {
  const u8* p = reinterpret_cast<const u8*>(address);
  if (p[-5] == 0xe8) return true;
  constexpr u8 kLengths[] = {2, 3, 6, 7};  // call through a register or memory, by its ways to say where
  for (u8 length : kLengths)
    if (p[-length] == 0xff && (p[1 - length] & 0x38) == 0x10) return true;
  return false;
}

// Where the innermost function that is known has called the code in which the thread is; 0: unknown. Code without
// instrumentation, such as the wait of a condition variable in libstdc++, may lie in between. A function has the same
// stack pointer at all its calls, unless it takes memory there; so the address that this call returns to is where that
// of the call of the hook was. `stack`: the stack pointer now; above it nothing is under way.
uptr call_from_known(const Thread* t, uptr stack) {
  if (t->top <= t->bottom) return 0;
  uptr slot = t->top[-1].stack - sizeof(uptr);
  if (slot < stack || slot % sizeof(uptr) != 0) return 0;
  uptr address = *reinterpret_cast<const uptr*>(slot);
  constexpr uptr kLongestCall = 7;
  if (address < kLongestCall || is_library_code(address) || !is_code(address - kLongestCall) || !is_code(address))
    return 0;
  return is_behind_call(address) ? address - 1 : 0;
}

// Calls `each` with the program counters of a thread's stack, innermost first. `pc`: where it is, 0 unknown; `stack` as
// in call_from_known().
template <typename Each>
void walk_stack(const Thread* t, uptr pc, uptr stack, Each each) {
  if (pc != 0) each(pc);
  uptr call = call_from_known(t, stack);
  if (call != 0 && call != pc) each(call);
  u32 frames = 0;
  for (const Frame* f = t->top; f > t->bottom && frames < kMostFrames; ++frames) each(shown_call((--f)->call));
}

// "thread 2 1 3 0x1f 17 4": the thread, what it waits for, who holds it (- for nobody), the object, the sites of its
// stack, innermost first.
void write_thread(const Thread* t, u32 id, BlockedOn on, u32 holder, uptr object, uptr pc, uptr stack) {
  char line[2048];
  char* end = line + sizeof line - 1;
  char* p = append_number(append_text(line, end, "thread "), end, id);
  p = append_number(append_text(p, end, " "), end, static_cast<u64>(on));
  p = append_text(p, end, " ");
  p = holder == sooth::control::kNone ? append_text(p, end, "-") : append_number(p, end, holder);
  p = append_number(append_text(p, end, " "), end, object);
  walk_stack(t, pc, stack, [&](uptr each) { p = append_site(p, end, each); });
  *p++ = '\n';
  write_line(line, p);
}

void log_stack(const Thread* t, u32 id, uptr pc, uptr stack) {
  walk_stack(t, pc, stack, [&](uptr each) { controlled::log_frame(id, each); });
}

void note_crash(Thread* t, int number, uptr pc, uptr stack) {
  // An abort stops somewhere in libc; whoever called it says more.
  if (number == SIGABRT) pc = t->fatal_pc;
  if (is_library_code(pc)) pc = 0;  // a hook looks at what the program is about to touch, and falls first
  if (recorder.controlled) {
    u64 place = pc == 0 ? 0 : controlled::module_offset(pc);
    if (pc != 0 && !controlled::is_in_program(pc)) place |= sooth::control::kInLibrary;
    controlled::log(RecordKind::kCrash, t->id, static_cast<u64>(number), 0, place);
    log_stack(t, t->id, pc, stack);
    // What it did last is a part of the schedule that leads here.
    if (t->busy == 0) turn::end_run(t);
    return;
  }
  char line[64];
  char* end = line + sizeof line - 1;
  char* p = append_number(append_text(line, end, "crash "), end, static_cast<u64>(number));
  *p++ = '\n';
  write_line(line, p);
  write_delay();
  write_thread(t, t->id, BlockedOn::kUnknown, sooth::control::kNone, 0, pc, stack);
}

// Notes the crash, and lets the signal do what it would have done.
void crashed(int number, siginfo_t* info, void* context) {
  static u32 noted;
  Thread* t = current();
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  uptr pc = interrupted_pc(interrupted), stack = interrupted_stack(interrupted);
  if (t != nullptr && __atomic_exchange_n(&noted, 1, __ATOMIC_ACQ_REL) == 0) {
    if (recorder.controlled && number == sooth::control::kWhereSignal && info->si_code == SI_USER)
      turn::tell_where_all_are(t);
    else
      note_crash(t, number, pc, stack);
  }
  struct {
    void* handler;
    u64 flags;
    void* restorer;
    u64 mask;
  } action = {};
  sys_call(SYS_rt_sigaction, number, reinterpret_cast<long>(&action), 0, sizeof(u64));
  // Blocked until this returns.
  sys_call(SYS_tgkill, sys_call(SYS_getpid), sys_call(SYS_gettid), number);
}

SOOTH_REAL Real<int(int, const struct sigaction*, struct sigaction*)> real_sigaction_{"sigaction"};

}  // namespace

bool is_cpp_runtime(uptr pc) {
  LoadedCode code;
  return find_loaded_code(pc, code) && code.name != nullptr &&
         (strstr(code.name, "/libstdc++.so") != nullptr || strstr(code.name, "/libc++abi.so") != nullptr);
}

void watch_crashes() {
  struct sigaction action, old;
  zero_memory(&action, sizeof action);
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : kCrashes) {
    // What the program inherited may be to ignore it.
    if (real_sigaction_(number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
      real_sigaction_(number, &action, nullptr);
  }
}

bool is_watching(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == crashed;
}

void note_deadlock(u32 first) {
  if (recorder.controlled) return controlled::log(RecordKind::kDeadlock, first);
  constexpr char kLine[] = "deadlock\n";
  write_line(kLine, kLine + sizeof kLine - 1);
  write_delay();
}

void note_blocked(const Thread* t, u32 id, BlockedOn on, u32 holder, uptr object) {
  uptr pc = t->progress.pc;
  if (!recorder.controlled) return write_thread(t, id, on, holder, object, pc, 0);
  u64 place =
      pc == 0 ? 0 : controlled::module_offset(pc) | (controlled::is_in_program(pc) ? 0 : sooth::control::kInLibrary);
  controlled::log(RecordKind::kBlockedThread, id, static_cast<u64>(on),
                  holder | controlled::variable_offset(object) << 32, place);
  log_stack(t, id, pc, 0);
}

void note_running(const Thread* t, u32 id) {
  controlled::log(RecordKind::kBlockedThread, id, static_cast<u64>(BlockedOn::kUnknown), sooth::control::kNone, 0);
  // Whoever waits in a loop looks at something again and again.
  log_stack(t, id, t->stepped_in == t->top ? t->stepped_at : 0, ~uptr{0});
}

// As libc says it: the standard error of a recorded program is its own.
void note_assertion(const char* text, const char* file, unsigned line, const char* function) {
  if (recorder.controlled) return;
  char sentence[512];
  char* end = sentence + sizeof sentence - 1;
  char* p = append_text(append_text(sentence, end, "message "), end, file);
  p = append_number(append_text(p, end, ":"), end, line);
  p = append_text(append_text(append_text(p, end, ": "), end, function), end, ": Assertion `");
  p = append_text(append_text(p, end, text), end, "' failed.");
  for (char* c = sentence; c != p; ++c)
    if (*c == '\n') *c = ' ';
  *p++ = '\n';
  write_line(sentence, p);
}

}  // namespace sooth::rt::run_end

using namespace sooth::rt;

SOOTH_REAL static Real<void()> real_abort{"abort"};
SOOTH_EXPORT __attribute__((noreturn)) void sooth_abort() asm("abort");
void sooth_abort() {
  if (Thread* t = current()) t->fatal_pc = run_end::is_cpp_runtime(SOOTH_CALLER) ? t->thrown_at : SOOTH_CALLER;
  real_abort();
  __builtin_unreachable();
}

SOOTH_REAL static Real<void(const char*, const char*, unsigned, const char*)> real___assert_fail{"__assert_fail"};
SOOTH_EXPORT __attribute__((noreturn)) void sooth___assert_fail(const char*, const char*, unsigned,
                                                                const char*) asm("__assert_fail");
void sooth___assert_fail(const char* text, const char* file, unsigned line, const char* function) {
  if (Thread* t = current()) {
    t->fatal_pc = SOOTH_CALLER;
    run_end::note_assertion(text, file, line, function);
  }
  real___assert_fail(text, file, line, function);
  __builtin_unreachable();
}

// Nobody may catch it.
SOOTH_REAL static Real<void(void*, void*, void (*)(void*))> real___cxa_throw{"__cxa_throw"};
SOOTH_EXPORT __attribute__((noreturn)) void sooth___cxa_throw(void*, void*, void (*)(void*)) asm("__cxa_throw");
void sooth___cxa_throw(void* exception, void* type, void (*destroy)(void*)) {
  if (Thread* t = current()) {
    t->thrown_at = SOOTH_CALLER;
    t->library_call = 0;
    once_throws(t, SOOTH_CALLER);
  }
  real___cxa_throw(exception, type, destroy);
  __builtin_unreachable();
}

SOOTH_REAL static Real<void()> real___cxa_rethrow{"__cxa_rethrow"};
SOOTH_EXPORT __attribute__((noreturn)) void sooth___cxa_rethrow() asm("__cxa_rethrow");
void sooth___cxa_rethrow() {
  if (Thread* t = current()) once_throws(t, SOOTH_CALLER);
  real___cxa_rethrow();
  __builtin_unreachable();
}
