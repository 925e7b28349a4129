#include "trace/text/std_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sooth {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{1} << 30;  // names, even if all escaped, stay below 4 GiB

}  // namespace

Result<LineSource> LineSource::open(const std::string& path) {
  LineSource source;
  source.descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (source.descriptor_ < 0 || ::fstat(source.descriptor_, &info) != 0) {
    return Status::bad_input(std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return Status::bad_input("this is a directory, not a text trace");
  }
  if (S_ISREG(info.st_mode)) {
    source.total_ = static_cast<std::uint64_t>(info.st_size);
  }
  source.buffer_.resize(kBufferSize);
  return source;
}

LineSource LineSource::over(std::string_view text) {
  LineSource source;
  source.text_ = text;
  source.total_ = text.size();
  source.buffer_.resize(std::min(text.size() + 1, kBufferSize));
  return source;
}

LineSource::LineSource(LineSource&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      taken_(other.taken_),
      total_(other.total_),
      text_(other.text_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      status_(std::move(other.status_)) {}

LineSource::~LineSource() {
  if (descriptor_ > STDIN_FILENO) {
    ::close(descriptor_);
  }
}

bool LineSource::next_after_reading(std::string_view& line) {
  std::size_t searched = end_ - begin_;
  while (fill()) {
    const char* start = buffer_.data() + begin_;
    const std::size_t available = end_ - begin_;
    if (const void* feed = std::memchr(start + searched, '\n', available - searched)) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(feed) - start);
      line = {start, length};
      begin_ += length + 1;
      return true;
    }
    searched = available;
  }
  if (!status_.ok() || begin_ == end_) {
    return false;
  }
  line = {buffer_.data() + begin_, end_ - begin_};  // the last line may lack its line feed
  begin_ = end_;
  return true;
}

bool LineSource::fill() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (end_ >= kLongestLine || std::memchr(buffer_.data(), '\0', end_) != nullptr) {
      status_ = Status::bad_input("this is not a trace: a line is longer than 1 GiB or holds NUL bytes");
      return false;
    }
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t room = buffer_.size() - end_;
  if (descriptor_ < 0) {
    const std::size_t got = std::min(room, text_.size());
    std::copy_n(text_.data(), got, buffer_.data() + end_);
    text_.remove_prefix(got);
    end_ += got;
    taken_ += got;
    return got > 0;
  }
  ssize_t got;
  do {
    got = ::read(descriptor_, buffer_.data() + end_, room);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    status_ = Status::bad_input(std::strerror(errno));
    return false;
  }
  end_ += static_cast<std::size_t>(got);
  taken_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

}  // namespace sooth
