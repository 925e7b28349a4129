#include "report/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sooth {
namespace {

std::string reason() { return std::strerror(errno); }

// Closes the descriptor that it owns, unless somebody did.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // close() is where a full network disk says so.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return Status::internal(path + ": cannot write: " + reason());
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_directly(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.ok()) {
    return Status::internal(path + ": cannot open for writing: " + reason());
  }
  return write_all(file.get(), text, path);
}

// The mode a plain creation would give; mkstemp is stricter. Reading the umask means setting it for a moment.
mode_t mode_for_new_files(NewFile mode) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return (mode == NewFile::kForOwner ? 0600 : 0666) & ~mask;
}

Status replace_file(const std::string& path, mode_t mode, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  Descriptor file(::mkstemp(temporary.data()));
  if (!file.ok()) {
    return Status::internal(path + ": cannot create a file beside it: " + reason());
  }
  Status status = write_all(file.get(), text, temporary);
  if (status.ok() &&
      (::fchmod(file.get(), mode) != 0 || !file.close() || std::rename(temporary.c_str(), path.c_str()) != 0)) {
    status = Status::internal(path + ": cannot put the finished file in place: " + reason());
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
  }
  return status;
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path, std::uint64_t most) {
  Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) {
    return Status::bad_input(path + ": cannot open: " + reason());
  }
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return Status::bad_input(path + ": cannot read: " + reason());
    }
    if (got == 0) {
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > most) {
      return Status::bad_input(path + ": cannot read: it has more than " + std::to_string(most) + " bytes");
    }
  }
}

Status write_whole_file(const std::string& path, std::string_view text, NewFile mode) {
  struct stat existing {};
  if (::stat(path.c_str(), &existing) != 0) {
    return replace_file(path, mode_for_new_files(mode), text);
  }
  if (S_ISDIR(existing.st_mode)) {
    return Status::internal(path + ": cannot write: is a directory");
  }
  if (!S_ISREG(existing.st_mode)) {
    return write_directly(path, text);
  }
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return replace_file(error ? path : target.string(), existing.st_mode & 0777, text);
}

}  // namespace sooth
