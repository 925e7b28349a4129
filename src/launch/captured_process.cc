#include "launch/captured_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "launch/descendants.h"
#include "schedule/protocol.h"

namespace sooth {
namespace {

using Clock = std::chrono::steady_clock;

// How long nobody looks whether the run was cancelled, or, on a kernel without pidfd_open(), whether it has ended.
constexpr int kPollMs = 50;
constexpr int kPollWithoutPidfdMs = 5;
constexpr int kAnswerMs = 500;  // to say where threads are

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }
  // Out of the way of the three standard streams, which may be closed here.
  void lift() {
    if (fd_ >= 0 && fd_ < 3) {
      *this = Descriptor(::fcntl(fd_, F_DUPFD_CLOEXEC, 3));
    }
  }

 private:
  int fd_;
};

// One stream of the program: our end of the pipe, and what has come through it.
class Stream {
 public:
  explicit Stream(std::size_t max) : max_(max), hash_(XXH3_createState(), XXH3_freeState) {
    XXH3_64bits_reset(hash_.get());
  }

  // Makes the pipe; `theirs` is the end for the program.
  bool open(Descriptor& theirs) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      return false;
    }
    ours_ = Descriptor(ends[0]);
    theirs = Descriptor(ends[1]);
    theirs.lift();
    return theirs.get() >= 0 && ::fcntl(ours_.get(), F_SETFL, O_NONBLOCK) == 0;
  }

  int fd() const { return ours_.get(); }

  // Takes what is there. Closes at the end of the stream.
  void take() {
    char part[1 << 16];
    while (ours_.get() >= 0) {
      const ssize_t got = ::read(ours_.get(), part, sizeof part);
      if (got > 0) {
        add({part, static_cast<std::size_t>(got)});
      } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        ours_.reset();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  std::string text() const { return text_.size() > max_ ? text_.substr(text_.size() - max_) : text_; }
  std::uint64_t hash() const { return XXH3_64bits_digest(hash_.get()); }

 private:
  void add(std::string_view part) {
    XXH3_64bits_update(hash_.get(), part.data(), part.size());
    text_ += part;
    if (text_.size() > 2 * max_ + part.size()) {  // seldom, so that each byte is moved once or twice
      text_.erase(0, text_.size() - max_);
    }
  }

  std::size_t max_;
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash_;
  std::string text_;
  Descriptor ours_;
};

// What only this run has in its environment: the names of its files.
std::string mark_of(const std::vector<std::string>& environment) {
  const auto mark = std::find_if(environment.begin(), environment.end(), [](const std::string& entry) {
    return entry.starts_with(std::string(control::kControlVariable) + "=");
  });
  return mark == environment.end() ? "" : *mark;
}

// Whether the process is over. It is not reaped, so its number is still its own.
bool is_over(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

ProgramEnd reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ProgramEnd::from_wait_status(status);
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 1'000'000'000));
}

// The run time library, if it is there, logs where threads are, and ends the process.
void ask_where(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kCaught = "SigCgt:";
    if (line.starts_with(kCaught) &&
        (std::strtoull(line.c_str() + kCaught.size(), nullptr, 16) >> (control::kWhereSignal - 1) & 1) != 0) {
      ::kill(pid, control::kWhereSignal);
      for (int waited = 0; waited < kAnswerMs && !is_over(pid); waited += kPollWithoutPidfdMs) {
        ::poll(nullptr, 0, kPollWithoutPidfdMs);
      }
    }
  }
}

// Until the program is over: takes its output, so that it never waits for us, and watches the limits.
void attend(pid_t pid, const std::string& mark, Stream& output, Stream& errors, const CaptureLimits& limits,
            Captured& captured) {
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const Clock::time_point deadline = Clock::now() + limits.timeout;
  bool killed = false;
  while (!is_over(pid)) {
    int patience = process.get() < 0 ? kPollWithoutPidfdMs : limits.cancel != nullptr ? kPollMs : -1;
    if (limits.timeout.count() != 0 && !killed) {
      const int left = milliseconds_until(deadline);
      captured.timed_out = left == 0;
      patience = patience < 0 ? left : std::min(patience, left);
    }
    captured.cancelled = (limits.cancel != nullptr && limits.cancel->load(std::memory_order_relaxed)) ||
                         Clock::now() >= limits.give_up_at;
    if (limits.give_up_at != Clock::time_point::max() && !killed) {
      const int left = milliseconds_until(limits.give_up_at);
      patience = patience < 0 ? left : std::min(patience, left);
    }
    if ((captured.timed_out || captured.cancelled) && !killed) {
      killed = true;
      if (captured.timed_out && !mark.empty()) {
        ask_where(pid);
      }
      // It must not go on because what it waited for has ended.
      ::kill(-pid, SIGSTOP);
      ::kill(pid, SIGSTOP);
      end_descendants(pid, mark);
      ::kill(-pid, SIGKILL);
      ::kill(pid, SIGKILL);  // it may have left its group
    }
    pollfd watched[] = {{output.fd(), POLLIN, 0}, {errors.fd(), POLLIN, 0}, {process.get(), POLLIN, 0}};
    ::poll(watched, 3, patience);
    output.take();
    errors.take();
  }
}

}  // namespace

Result<Captured> run_captured(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                              const CaptureLimits& limits) {
  Stream output(limits.max_output);
  Stream errors(limits.max_output);
  Captured captured;
  pid_t pid = 0;
  {
    const bool has_input = !limits.input.path.empty();
    Descriptor input(::open(has_input ? limits.input.path.c_str() : "/dev/null", O_RDONLY | O_CLOEXEC));
    input.lift();
    if (has_input) {
      ::lseek(input.get(), static_cast<off_t>(limits.input.offset), SEEK_SET);
    }
    Descriptor their_output, their_errors;
    if (input.get() < 0 || !output.open(their_output) || !errors.open(their_errors)) {
      return Status::internal(std::string("cannot open its input, or make a pipe: ") + std::strerror(errno));
    }
    SpawnOptions options;
    options.input = input.get();
    options.output = their_output.get();
    options.errors = their_errors.get();
    options.own_group = options.fixed_addresses = options.no_core = true;
    options.isolation = limits.isolation;
    options.shared = limits.shared.c_str();
    const Result<pid_t> started = spawn_program(words, environment, options);
    if (!started.ok()) {
      return started.status();
    }
    pid = *started;
  }
  // Daemons that it starts do not hold on to a run that is over, whatever group they are in.
  const std::string mark = mark_of(environment);
  attend(pid, mark, output, errors, limits, captured);
  ::kill(-pid, SIGKILL);
  end_descendants(pid, mark);
  captured.end = reap(pid);
  forget_known_child(pid);
  output.take();
  errors.take();
  captured.output = output.text();
  captured.errors = errors.text();
  const std::uint64_t hashes[] = {output.hash(), errors.hash()};
  captured.output_hash = XXH3_64bits(hashes, sizeof(hashes));
  return captured;
}

}  // namespace sooth
