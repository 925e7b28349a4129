// Lines of a file, a pipe or a text in memory, through one buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

// Reads in large pieces; a line that does not fit makes the buffer grow. Nothing is mapped, so a file that shrinks
// while it is read is a shorter file and not a signal, and a file may be larger than memory.
class LineSource {
 public:
  // "-" is standard input. A directory is an error.
  static Result<LineSource> open(const std::string& path);
  // The text must outlive the source.
  static LineSource over(std::string_view text);

  LineSource(LineSource&& other) noexcept;
  LineSource& operator=(LineSource&&) = delete;
  ~LineSource();

  // Sets `line` to the next one without its line feed; valid until the following call. False at the end, and on an
  // error, which status() then tells.
  bool next(std::string_view& line) {
    const char* start = buffer_.data() + begin_;
    if (const void* feed = std::memchr(start, '\n', end_ - begin_)) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(feed) - start);
      line = {start, length};
      begin_ += length + 1;
      return true;
    }
    return next_after_reading(line);
  }

  const Status& status() const { return status_; }
  std::uint64_t bytes_read() const { return taken_ - (end_ - begin_); }
  std::uint64_t bytes_total() const { return total_; }  // 0: unknown

 private:
  LineSource() = default;
  bool next_after_reading(std::string_view& line);
  bool fill();  // false at the end or on an error

  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what is not handed out yet: [begin_, end_)
  std::size_t end_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t total_ = 0;
  std::string_view text_;  // what is left of a text in memory
  int descriptor_ = -1;    // -1: a text in memory
  Status status_;
};

}  // namespace sooth
