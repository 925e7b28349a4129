// A detached worker writes to the log, a static object, which the end of main destroys.
//
// FAILS: assertion: the log is closed
// PREEMPTIONS: 2, of the worker before it writes, and of main between the end of the log and that of the process
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
  static Log the_log;
  return the_log;
}

struct Metrics {  // made before the log, so it dies after it
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
