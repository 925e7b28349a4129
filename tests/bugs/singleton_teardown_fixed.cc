// The log is never destroyed.
#include <cassert>
#include <mutex>
#include <semaphore>
#include <thread>

class Log {
 public:
  ~Log() {
    std::lock_guard lock(mutex_);
    open_ = false;
  }
  void write() {
    std::lock_guard lock(mutex_);
    assert(open_);
    ++lines_;
  }

 private:
  std::mutex mutex_;
  volatile bool open_ = true;
  int lines_ = 0;
};

Log& log() {
  static Log* const the_log = new Log;
  return *the_log;
}

struct Metrics {
  std::mutex mutex;
  ~Metrics() { std::lock_guard lock(mutex); }
} metrics;

std::binary_semaphore begun{0};

void work() {
  begun.release();
  log().write();
}

int main() {
  log().write();
  std::thread(work).detach();
  begun.acquire();
}
