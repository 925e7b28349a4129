#include "trace/format/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

namespace sooth {

Result<std::optional<std::string>> read_small_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno == ENOENT) {
      return std::optional<std::string>();
    }
    return Status::bad_input(path + ": cannot read: " + std::strerror(errno));
  }
  std::string text;
  struct stat status = {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    text.reserve(static_cast<std::size_t>(status.st_size));
  }
  char part[16 * 1024];
  ssize_t got = 0;
  do {
    got = ::read(fd, part, sizeof part);
    text.append(part, got > 0 ? static_cast<std::size_t>(got) : 0);
  } while (got > 0 || (got < 0 && errno == EINTR));
  const int error = errno;
  ::close(fd);
  if (got < 0) {
    return Status::bad_input(path + ": cannot read: " + std::strerror(error));
  }
  return std::optional(std::move(text));
}

Result<std::string> read_required_file(const std::string& path) {
  Result<std::optional<std::string>> text = read_small_file(path);
  if (!text.ok()) {
    return std::move(text).status();
  }
  return text->has_value() ? Result(std::move(**text))
                           : Result<std::string>(Status::bad_input(path + ": cannot read: there is no such file"));
}

Status write_small_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? Status() : Status::internal(path + ": cannot write: " + std::strerror(errno));
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
