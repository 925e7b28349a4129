#include "launch/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "launch/descendants.h"

namespace sooth {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGWINCH, SIGALRM, SIGCONT, SIGTSTP};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kPassedOn) {
    sigaddset(&set, signal);
  }
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Job control stops both, so that the shell sees its job stopped. SIGSTOP and stops for a debugger mean the program
// only.
void stop_as_it_did(int signal) {
  if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
    ::raise(SIGSTOP);
  }
}

}  // namespace

std::string ProgramEnd::describe() const {
  if (signal == 0) {
    return "status " + std::to_string(status);
  }
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

ProgramEnd ProgramEnd::from_wait_status(int status) {
  ProgramEnd end;
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& words,
                                         const std::vector<std::string>& environment, const SpawnOptions& options) {
  hold_signals();
  const Result<pid_t> pid = spawn_program(words, environment, options);
  return pid.ok() ? Result(ChildProcess(*pid)) : Result<ChildProcess>(pid.status());
}

ProgramEnd ChildProcess::wait(const std::function<void()>& on_usr2, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + timeout;
  const sigset_t watched = watched_signals();
  ProgramEnd end;
  while (!reap(end)) {
    if (given_up_.load(std::memory_order_acquire) && !timed_out_) {
      timed_out_ = true;
      ::kill(pid_, SIGKILL);
    }
    siginfo_t info;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
    const timespec patience{left > 0 ? left / 1'000'000'000 : 0, left > 0 ? left % 1'000'000'000 : 0};
    const int signal = ::sigtimedwait(&watched, &info, timeout.count() == 0 || timed_out_ ? nullptr : &patience);
    interrupted_ = interrupted_ || signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (signal < 0 && errno == EAGAIN) {
      timed_out_ = true;
      ::kill(pid_, SIGKILL);
    } else if (signal == SIGUSR2) {
      on_usr2();
    } else if (signal > 0 && signal != SIGCHLD && info.si_code <= 0 && info.si_pid != pid_) {
      // A process sent it, and not the program itself to its whole group. What the kernel sends for a terminal
      // (si_code > 0) the program has got as well.
      ::kill(pid_, signal);
    }
  }
  ended_.store(true, std::memory_order_release);
  return end;
}

void ChildProcess::give_up() {
  // The thread in wait() does it: only there is it certain that the number is still that of the program.
  given_up_.store(true, std::memory_order_release);
  ::kill(::getpid(), SIGCHLD);
}

void hold_signals() {
  inherited_signals();
  sigset_t held = watched_signals();
  for (const int signal : {SIGPIPE, SIGVTALRM, SIGPROF, SIGXCPU}) {  // nobody waits for them, but they would end us
    sigaddset(&held, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

void forget_held_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU}) {
    sigaddset(&ends, signal);
  }
  const timespec at_once{};
  while (::sigtimedwait(&ends, nullptr, &at_once) > 0) {
  }
}

void take_signals_again() { ::pthread_sigmask(SIG_SETMASK, &inherited_signals().mask, nullptr); }

bool ChildProcess::reap(ProgramEnd& end) {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(pid_, &status, WNOHANG | WUNTRACED)) == pid_) {
    if (WIFSTOPPED(status)) {
      stop_as_it_did(WSTOPSIG(status));
      continue;
    }
    forget_known_child(pid_);
    end = ProgramEnd::from_wait_status(status);
    return true;
  }
  if (pid < 0 && errno != EINTR) {  // waitpid of a child that exists cannot fail otherwise
    std::abort();
  }
  return false;
}

}  // namespace sooth
