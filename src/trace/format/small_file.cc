#include "trace/format/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace sooth {

Result<std::optional<std::string>> read_small_file(const std::string& path, std::uint64_t most) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno == ENOENT) {
      return std::optional<std::string>();
    }
    return Status::bad_input(path + ": cannot read: " + std::strerror(errno));
  }
  std::string text;
  struct stat status = {};
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto too_long = [&] {
    return Status::bad_input(path + ": cannot read: it has more than " + std::to_string(most) + " bytes");
  };
  if (!regular || static_cast<std::uint64_t>(status.st_size) > most) {
    ::close(fd);
    return regular ? too_long() : Status::bad_input(path + ": cannot read: it is no regular file");
  }
  text.reserve(static_cast<std::size_t>(status.st_size));
  char part[16 * 1024];
  ssize_t got = 0;
  do {
    got = ::read(fd, part, sizeof part);
    text.append(part, got > 0 ? static_cast<std::size_t>(got) : 0);
  } while (text.size() <= most && (got > 0 || (got < 0 && errno == EINTR)));
  const int error = errno;
  ::close(fd);
  if (got < 0) {
    return Status::bad_input(path + ": cannot read: " + std::strerror(error));
  }
  return text.size() <= most ? Result(std::optional(std::move(text))) : too_long();
}

Result<std::string> read_required_file(const std::string& path, std::uint64_t most) {
  Result<std::optional<std::string>> text = read_small_file(path, most);
  if (!text.ok()) {
    return std::move(text).status();
  }
  return text->has_value() ? Result(std::move(**text))
                           : Result<std::string>(Status::bad_input(path + ": cannot read: there is no such file"));
}

Status write_small_file(const std::string& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool good = fd >= 0;
  while (good && !bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    good = put >= 0 || errno == EINTR;
    bytes.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  const int error = errno;
  const bool closed = fd < 0 || ::close(fd) == 0;
  return good && closed ? Status() : Status::internal(path + ": cannot write: " + std::strerror(good ? errno : error));
}

Status replace_small_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  SOOTH_RETURN_IF_ERROR(write_small_file(temporary, bytes));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Status::internal(path + ": cannot write: " + std::strerror(errno));
  }
  return {};
}

Status seal_file(const std::string& path, std::string_view sealed, std::size_t seal_size) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool done = fd >= 0 && ::ftruncate(fd, static_cast<off_t>(sealed.size())) == 0 &&
                    ::pwrite(fd, sealed.data(), seal_size, 0) == static_cast<ssize_t>(seal_size);
  const int error = errno;
  if (fd >= 0) {
    ::close(fd);
  }
  return done ? Status() : Status::internal(path + ": cannot write: " + std::strerror(error));
}

}  // namespace sooth
