#include "launch/kept_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace sooth {

// From our standard input into a pipe and a file.
class InputKeeper::Copier {
 public:
  explicit Copier(std::uint64_t max_bytes) : left_(max_bytes) {}
  ~Copier() {
    stop();
    for (const int fd : {theirs_, ours_, spool_, stop_}) {
      if (fd >= 0) {
        ::close(fd);
      }
    }
  }

  Status open(const std::string& path) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      return Status::internal(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    theirs_ = above_streams(ends[0]);
    ours_ = above_streams(ends[1]);
    spool_ = above_streams(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    stop_ = ::eventfd(0, EFD_CLOEXEC);
    if (theirs_ < 0 || ours_ < 0 || spool_ < 0 || stop_ < 0 || ::fcntl(ours_, F_SETFL, O_NONBLOCK) != 0) {
      return Status::internal("cannot keep standard input in " + path + ": " + std::strerror(errno));
    }
    return {};
  }

  int theirs() const { return theirs_; }
  bool cut() const { return cut_; }

  void begin() {
    ::close(std::exchange(theirs_, -1));
    thread_ = std::thread([this] { copy(); });
  }

  void stop() {
    if (thread_.joinable()) {
      ::eventfd_write(stop_, 1);
      thread_.join();
    }
  }

 private:
  // Out of the way of the standard streams, which may be closed here.
  static int above_streams(int fd) {
    if (fd < 0 || fd > 2) {
      return fd;
    }
    const int lifted = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
    return lifted;
  }

  // False when it is time to stop.
  bool wait_for(int fd, short what) const {
    pollfd watched[] = {{fd, what, 0}, {stop_, POLLIN, 0}};
    while (::poll(watched, 2, -1) < 0 && errno == EINTR) {
    }
    return watched[1].revents == 0;
  }

  void copy() {
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    char part[1 << 14];
    while (wait_for(STDIN_FILENO, POLLIN)) {
      const ssize_t got = ::read(STDIN_FILENO, part, sizeof part);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        continue;
      }
      if (got <= 0 || !keep(part, static_cast<std::size_t>(got)) || !pass(part, static_cast<std::size_t>(got))) {
        break;
      }
    }
    ::close(std::exchange(ours_, -1));  // its end of file
  }

  bool keep(const char* bytes, std::size_t count) {
    const std::size_t take = std::min<std::uint64_t>(count, left_);
    cut_ = cut_ || take < count;
    left_ -= take;
    return ::write(spool_, bytes, take) == static_cast<ssize_t>(take) || (cut_ = true);
  }

  bool pass(const char* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t put = ::write(ours_, bytes, count);
      if (put > 0) {
        bytes += put;
        count -= static_cast<std::size_t>(put);
      } else if (errno == EAGAIN ? !wait_for(ours_, POLLOUT) : errno != EINTR) {
        return false;  // the program does not read any more, or is over
      }
    }
    return true;
  }

  std::uint64_t left_;
  int theirs_ = -1, ours_ = -1, spool_ = -1, stop_ = -1;
  bool cut_ = false;  // read when the thread is over
  std::thread thread_;
};

InputKeeper::InputKeeper() = default;
InputKeeper::InputKeeper(InputKeeper&&) noexcept = default;
InputKeeper::~InputKeeper() = default;

Result<InputKeeper> InputKeeper::open(const std::string& spool, std::uint64_t max_bytes) {
  InputKeeper keeper;
  struct stat input {};
  if (::fstat(STDIN_FILENO, &input) != 0) {
    return keeper;  // closed
  }
  if (S_ISREG(input.st_mode)) {
    const off_t at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    keeper.kept_ = {"/proc/self/fd/0", at < 0 ? 0 : static_cast<std::uint64_t>(at)};
  } else if (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode)) {
    keeper.copier_ = std::make_unique<Copier>(max_bytes);
    SOOTH_RETURN_IF_ERROR(keeper.copier_->open(spool));
    keeper.kept_ = {spool, 0};
  }
  return keeper;
}

int InputKeeper::for_program() const { return copier_ == nullptr ? -1 : copier_->theirs(); }

void InputKeeper::begin() {
  if (copier_ != nullptr) {
    copier_->begin();
  }
}

KeptInput InputKeeper::end() {
  if (copier_ != nullptr) {
    copier_->stop();
  }
  return kept_;
}

bool InputKeeper::cut() const { return copier_ != nullptr && copier_->cut(); }

}  // namespace sooth
