// A buffer of text that is flushed when it is full. What did not fit is counted without the lock.
//
// In a serial run the first thread has flushed before the second one appends, and everything fits.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace {

class Buffer {
 public:
  bool append(const char* text) {
    const std::size_t length = std::strlen(text);
    std::lock_guard<std::mutex> guard(mutex_);
    if (used_ + length > sizeof data_) {
      return false;
    }
    std::memcpy(data_ + used_, text, length);
    used_ += length;
    return true;
  }
  void flush() {
    std::lock_guard<std::mutex> guard(mutex_);
    flushed_ += used_;
    std::memset(data_, 0, sizeof data_);
    used_ = 0;
  }
  std::size_t flushed() {
    std::lock_guard<std::mutex> guard(mutex_);
    return flushed_;
  }

 private:
  std::mutex mutex_;
  char data_[24] = {};
  std::size_t used_ = 0, flushed_ = 0;
};

std::size_t dropped = 0;

void write(Buffer& buffer, const char* text) {
  if (!buffer.append(text)) {
    char shortened[9];
    std::memset(shortened, 0, sizeof shortened);
    std::strncpy(shortened, text, sizeof shortened - 1);
    std::printf("dropped: %s...\n", shortened);
    dropped += std::strlen(text);  // RACE(dropped)
  }
}

}  // namespace

int main() {
  Buffer buffer;
  write(buffer, "twenty bytes of text");
  std::size_t seen = 0;
  std::thread flusher([&] {
    buffer.flush();
    seen = dropped;  // RACE(dropped)
  });
  std::thread writer([&] { write(buffer, "ten bytes."); });
  flusher.join();
  writer.join();
  std::cout << buffer.flushed() << ' ' << seen << '\n';
}
