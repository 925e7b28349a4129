#include "launch/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>

#include "launch/descendants.h"
#include "launch/isolation.h"

namespace sooth {
namespace {

constexpr unsigned long kAskPersonality = 0xffffffff;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& each : strings) {
    out.push_back(const_cast<char*>(each.c_str()));  // exec takes them so and does not change them
  }
  out.push_back(nullptr);
  return out;
}

// The next five run in the new process: only async-signal-safe calls.

void prepare_process(const SpawnOptions& options) {
  if (options.own_group) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  if (options.fixed_addresses) {
    const int persona = ::personality(kAskPersonality);
    if (persona != -1) {
      ::personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);  // a sandbox may forbid it: then not
    }
  }
  if (options.no_core) {
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = 0;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
}

bool set_streams(const SpawnOptions& options) {
  const int streams[] = {options.input, options.output, options.errors};
  for (int i = 0; i < 3; ++i) {
    if (streams[i] >= 0 && ::dup2(streams[i], i) != i) {
      return false;
    }
  }
  return true;
}

bool enter_isolation(const SpawnOptions& options) {
  const bool entered = options.isolation->enter(options.shared);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user, so to speak, starts without it
  return entered;
}

// Becomes the program, or tells through the pipe why not. AddressSanitizer would say, at calls that do not return, that it
// does not know the stack.
[[noreturn]] [[gnu::no_sanitize_address]] void become(char* const* words, char* const* environment,
                                                      const SpawnOptions& options, const InheritedSignals& inherited,
                                                      int pipe) {
  prepare_process(options);
  if (set_streams(options) && (options.isolation == nullptr || enter_isolation(options))) {
    ::signal(SIGCHLD, inherited.on_child);
    ::sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
    ::execvpe(words[0], words, environment);
  }
  const int error = errno;
  const ssize_t ignored = ::write(pipe, &error, sizeof(error));
  ::_exit(ignored == sizeof(error) ? 127 : 126);
}

struct Becoming {
  char* const* words;
  std::size_t count;  // of words
  char* const* environment;
  const SpawnOptions& options;
  const InheritedSignals& inherited;
  int pipe;
};

[[gnu::no_sanitize_address]] int become_on_own_stack(void* argument) {
  const Becoming& what = *static_cast<const Becoming*>(argument);
  become(what.words, what.environment, what.options, what.inherited, what.pipe);
}

// A new process that borrows our memory, and the processor from this thread, until it is the program: the copy that
// fork() makes of our page tables takes longer than small programs run. No handler of ours may run in it.
pid_t start_borrowing(Becoming& what) {
  const std::size_t stack_bytes = (256 << 10) + what.count * sizeof(char*);  // execvpe() may copy the array of words
  const std::unique_ptr<std::byte[]> stack(new std::byte[stack_bytes]);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::byte* const top = stack.get() + stack_bytes / 16 * 16;
  const pid_t pid = ::clone(become_on_own_stack, top, CLONE_VM | CLONE_VFORK | SIGCHLD, &what);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

pid_t start(Becoming& what) {
  if (what.options.isolation == nullptr) {
    return start_borrowing(what);
  }
  const pid_t pid = ::fork();  // who shares memory with others cannot enter name spaces of users
  if (pid == 0) {
    become_on_own_stack(&what);
  }
  return pid;
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

}  // namespace

const InheritedSignals& inherited_signals() {
  static const InheritedSignals inherited = [] {
    InheritedSignals found{};
    ::pthread_sigmask(SIG_BLOCK, nullptr, &found.mask);
    found.on_child = ::signal(SIGCHLD, SIG_DFL);
    return found;
  }();
  return inherited;
}

Result<pid_t> spawn_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                            const SpawnOptions& options) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    return Status::internal(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> environment_pointers = pointers(environment);
  const InheritedSignals& inherited = inherited_signals();
  // While other runs are watched, the child is told from what they leave behind.
  Becoming what{word_pointers.data(), words.size(), environment_pointers.data(), options, inherited, pipe[1]};
  const pid_t pid = start_known_child([&] { return start(what); });
  const int fork_error = errno;
  ::close(pipe[1]);
  const int error = pid < 0 ? fork_error : exec_error(pipe[0]);
  ::close(pipe[0]);
  if (error == 0) {
    return pid;
  }
  if (pid > 0) {
    ::waitpid(pid, nullptr, 0);
    forget_known_child(pid);
  }
  return pid < 0 ? Status::internal(std::string("cannot start a process: ") + std::strerror(error))
                 : Status::bad_input("cannot start " + words.front() + ": " + std::strerror(error));
}

}  // namespace sooth
