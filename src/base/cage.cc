#include "base/cage.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace sooth {
namespace {

constexpr int kGaveUp = 71;  // exit status of a child whose work ended itself
constexpr int kOutOfMemory = 72;
constexpr char kWhole = '.';  // behind the answer: what comes before it is all of it

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter
#endif

// Calls that are harmless whatever their arguments are. All others fail with EPERM.
constexpr int kHarmless[] = {
    SYS_munmap, SYS_mremap,       SYS_brk,           SYS_madvise,        SYS_futex,       SYS_exit_group,
    SYS_exit,   SYS_rt_sigreturn, SYS_rt_sigaction,  SYS_rt_sigprocmask, SYS_sigaltstack, SYS_getpid,
    SYS_gettid, SYS_sched_yield,  SYS_clock_gettime, SYS_getrandom,
};

// The filter, put together instruction by instruction. Jumps only skip what follows them.
class Filter {
 public:
  explicit Filter(int answer) {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    for (const int call : kHarmless) {
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
      add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    // The answer, and nothing else.
    allow_if_argument(SYS_write, 0, static_cast<std::uint32_t>(answer));
    // abort() sends itself a signal.
    allow_if_argument(SYS_tgkill, 0, static_cast<std::uint32_t>(::getpid()));
    // Memory that belongs to no file. Nothing that can be executed comes of it.
    allow_unless_bits(SYS_mprotect, 2, PROT_EXEC);
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5);
    load(argument(4));
    add(BPF_JMP | BPF_JEQ | BPF_K, ~std::uint32_t{0}, 0, 3);  // a descriptor other than -1
    load(argument(2));
    add(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }

  // False: the kernel has no seccomp.
  bool install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  static constexpr std::uint32_t argument(int number) {  // its low half: both architectures are little endian
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(number));
  }
  void add(unsigned code, std::uint32_t k, int if_true = 0, int if_false = 0) {
    code_.push_back(
        {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false), k});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  // Both leave the number of the call loaded for the next rule.
  void allow_if_argument(int call, int number, std::uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load(argument(number));
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  void allow_unless_bits(int call, int number, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load(argument(number));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }

  std::vector<sock_filter> code_;
};

void set_limit(decltype(RLIMIT_CPU) what, std::uint64_t most) {
  rlimit limit{};
  ::getrlimit(what, &limit);
  limit.rlim_max = most < limit.rlim_max ? most : limit.rlim_max;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(what, &limit);
}

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    unsigned long long found = 0;
    pages = std::fscanf(file, "%llu", &found) == 1 ? found : 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// In the child: nothing of what the parent has open, and none of its ways to handle signals.
int close_all_but(int answer) {
  answer = ::fcntl(answer, F_DUPFD, 3);  // it may be one of the first three, when the parent has closed those
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) {
    if (nothing < 0 || ::dup2(nothing, fd) < 0) {
      ::close(fd);
    }
  }
  answer = ::dup2(answer, 3);
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, 4u, ~0u, 0u) == 0) {
    return answer;
  }
#endif
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (int fd = 4; fd < static_cast<int>(limit.rlim_cur < 65536 ? limit.rlim_cur : 65536); ++fd) {
    ::close(fd);
  }
  return answer;
}

void default_signals() {
  for (int signal = 1; signal < 32; ++signal) {
    ::signal(signal, SIG_DFL);  // refused for SIGKILL and SIGSTOP, and there is nothing to do about it
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void be_the_child(int answer, std::uint64_t memory, const CageLimits& limits, pid_t parent,
                               const std::function<std::string()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kGaveUp);
  }
  default_signals();
  answer = close_all_but(answer);
  set_limit(RLIMIT_CPU, limits.cpu_seconds);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  set_limit(RLIMIT_NOFILE, 0);
  set_limit(RLIMIT_NPROC, 0);
  if (!kSanitized) {
    set_limit(RLIMIT_AS, memory);
  }
  std::set_new_handler([] { ::_exit(kOutOfMemory); });
  Filter filter(answer);
  if (kArchitecture != 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
    (void)filter.install();  // without seccomp the limits are what there is
  }
  std::string text = work();
  text += kWhole;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(answer, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) {
      ::_exit(kGaveUp);
    }
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  ::_exit(0);
}

// What the child writes, until it closes its end, the time is over, or it is too much.
enum class Read : std::uint8_t { kEnd, kTooLate, kTooMuch };
Read read_answer(int fd, const CageLimits& limits, std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits.wall_seconds);
  char part[16 * 1024];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    const int found = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (found == 0) {
      return Read::kTooLate;
    }
    const ssize_t n = found < 0 ? -1 : ::read(fd, part, sizeof part);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
      return Read::kEnd;
    }
    text.append(part, n > 0 ? static_cast<std::size_t>(n) : 0);
    if (text.size() > limits.answer + 1) {
      return Read::kTooMuch;
    }
  }
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = ::sigabbrev_np(signal);
    return signal == SIGXCPU || signal == SIGKILL ? "took too long and was ended"
                                                  : "was ended by SIG" + std::string(name == nullptr ? "?" : name);
  }
  return WEXITSTATUS(status) == kOutOfMemory ? "had not enough memory" : "gave up";
}

}  // namespace

void leave_cage() { ::_exit(kGaveUp); }

Result<std::string> run_caged(const CageLimits& limits, const std::function<std::string()>& work) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Status::internal(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const std::uint64_t memory = mapped_bytes() + limits.memory;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    be_the_child(ends[1], memory, limits, parent, work);
  }
  const int error = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return Status::internal(std::string("cannot start a child process: ") + std::strerror(error));
  }
  std::string text;
  const Read read = read_answer(ends[0], limits, text);
  ::close(ends[0]);
  if (read != Read::kEnd) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (read == Read::kTooMuch) {
    return Status::bad_input("the child process answered too much");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || text.empty() || text.back() != kWhole) {
    return Status::bad_input("the child process " + end_of(status));
  }
  text.pop_back();
  return text;
}

}  // namespace sooth
