// A predicate remembers the signal.
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>

std::mutex mutex;
std::condition_variable go;
std::binary_semaphore up{0};
bool started;
int done;

void work() {
  up.release();
  std::unique_lock lock(mutex);
  go.wait(lock, [] { return started; });
  done = 1;
}

int main() {
  std::thread worker(work);
  up.acquire();
  {
    std::lock_guard lock(mutex);
    started = true;
    go.notify_one();
  }
  worker.join();
  return done == 1 ? 0 : 1;
}
