#include "launch/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

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

// How sooth itself was started, before anything here changed it.
struct Inherited {
  sigset_t mask;
  void (*on_child)(int);
};

// Blocks what wait() takes, in the calling thread and those that it starts from now on.
const Inherited& take_over_signals() {
  static const Inherited inherited = [] {
    Inherited found{};
    ::pthread_sigmask(SIG_BLOCK, nullptr, &found.mask);
    // Ignored (a parent may have left it so), the kernel would throw the status of the program away.
    found.on_child = ::signal(SIGCHLD, SIG_DFL);
    return found;
  }();
  const sigset_t watched = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  return inherited;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& each : strings) {
    out.push_back(const_cast<char*>(each.c_str()));  // exec takes them so and does not change them
  }
  out.push_back(nullptr);
  return out;
}

// In the new process: becomes the program, or tells through the pipe why not. Only async-signal-safe calls.
[[noreturn]] void become(char* const* words, char* const* environment, const Inherited& inherited, int pipe) {
  ::signal(SIGCHLD, inherited.on_child);
  ::sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
  ::execvpe(words[0], words, environment);
  const int error = errno;
  const ssize_t ignored = ::write(pipe, &error, sizeof(error));
  ::_exit(ignored == sizeof(error) ? 127 : 126);
}

// 0 when the pipe closed because exec() succeeded, else exec's error number.
int exec_error(int pipe) {
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(pipe, &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  return n == sizeof(error) ? error : 0;
}

// Job control stops both, so that the shell sees its job stopped. SIGSTOP and stops for a debugger mean the program only.
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

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& words,
                                         const std::vector<std::string>& environment) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    return Status::internal(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> environment_pointers = pointers(environment);
  const Inherited& inherited = take_over_signals();
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(word_pointers.data(), environment_pointers.data(), inherited, pipe[1]);
  }
  const int fork_error = errno;
  ::close(pipe[1]);
  const int error = pid < 0 ? fork_error : exec_error(pipe[0]);
  ::close(pipe[0]);
  if (error == 0) {
    return ChildProcess(pid);
  }
  if (pid > 0) {
    ::waitpid(pid, nullptr, 0);
  }
  return pid < 0 ? Status::internal(std::string("cannot start a process: ") + std::strerror(error))
                 : Status::bad_input("cannot start " + words.front() + ": " + std::strerror(error));
}

ProgramEnd ChildProcess::wait(const std::function<void()>& on_usr2) {
  const sigset_t watched = watched_signals();
  ProgramEnd end;
  while (!reap(end)) {
    siginfo_t info;
    const int signal = ::sigwaitinfo(&watched, &info);
    if (signal == SIGUSR2) {
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

bool ChildProcess::reap(ProgramEnd& end) {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(pid_, &status, WNOHANG | WUNTRACED)) == pid_) {
    if (WIFSTOPPED(status)) {
      stop_as_it_did(WSTOPSIG(status));
      continue;
    }
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
  }
  if (pid < 0 && errno != EINTR) {  // waitpid of a child that exists cannot fail otherwise
    std::abort();
  }
  return false;
}

}  // namespace sooth
