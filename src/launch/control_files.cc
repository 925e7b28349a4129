#include "launch/control_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launch/isolation.h"
#include "trace/format/small_file.h"

namespace sooth {
namespace {

// A write to a mapping that finds no room on the disk is a SIGBUS in the program, so the log never takes more than this
// part.
constexpr std::uint64_t kShareOfDisk = 8;

// All of `bytes` at `offset`; false at the end of the file or an error.
bool read_at(int fd, char* to, std::size_t bytes, off_t offset) {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, to, bytes, offset);
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      return false;
    }
    const std::size_t read = got > 0 ? static_cast<std::size_t>(got) : 0;
    to += read;
    bytes -= read;
    offset += static_cast<off_t>(read);
  }
  return true;
}

}  // namespace

Result<ControlFiles> ControlFiles::create(const std::string& control, std::uint64_t max_records) {
  Result<PrivateDirectory> directory =
      PrivateDirectory::create(kShareOfDisk * max_records * sizeof(control::LogRecord));
  if (!directory.ok()) {
    return directory.status();
  }
  ControlFiles files(std::move(*directory));
  SOOTH_RETURN_IF_ERROR(write_small_file(files.control_path(), control));
  SOOTH_RETURN_IF_ERROR(files.create_log(max_records));
  ::mkdir((files.directory() + "/" + Isolation::kMemoryFolder).c_str(), 0700);  // for runs in name spaces of their own
  return files;
}

ControlFiles::ControlFiles(ControlFiles&& other) noexcept
    : directory_(std::move(other.directory_)), log_(std::exchange(other.log_, -1)) {}

ControlFiles::~ControlFiles() {
  if (log_ >= 0) {
    ::close(log_);
  }
}

Status ControlFiles::create_log(std::uint64_t max_records) {
  control::LogHeader header{};
  header.magic = control::kLogMagic;
  header.capacity = std::min(max_records, directory_.free_bytes() / kShareOfDisk / sizeof(control::LogRecord));
  log_ = ::open(log_path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const auto bytes = static_cast<off_t>(sizeof(header) + header.capacity * sizeof(control::LogRecord));
  if (log_ < 0 || ::ftruncate(log_, bytes) != 0 || ::pwrite(log_, &header, sizeof(header), 0) != sizeof(header)) {
    return Status::internal("cannot write " + log_path() + ": " + std::strerror(errno));
  }
  return {};
}

Result<RunLog> ControlFiles::read_log() const {
  control::LogHeader header{};
  std::string bytes(sizeof(header), '\0');
  if (!read_at(log_, bytes.data(), bytes.size(), 0)) {
    return Status::internal("cannot read " + log_path() + " again: " + std::strerror(errno));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  // The program may have written anything into its mapping. A count that the file cannot hold is for parse_run_log() to
  // refuse.
  const off_t size = ::lseek(log_, 0, SEEK_END);
  const std::uint64_t room =
      size < 0 ? 0 : (static_cast<std::uint64_t>(size) - bytes.size()) / sizeof(control::LogRecord);
  bytes.resize(bytes.size() + std::min({header.count, header.capacity, room}) * sizeof(control::LogRecord));
  if (!read_at(log_, bytes.data() + sizeof(header), bytes.size() - sizeof(header), sizeof(header))) {
    return Status::internal("cannot read " + log_path() + " again: " + std::strerror(errno));
  }
  return parse_run_log(bytes);
}

}  // namespace sooth
