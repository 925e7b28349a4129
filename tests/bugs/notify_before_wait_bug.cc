// The worker says that it is up and then waits for the signal to go, without a predicate: a signal that comes before the
// wait is gone.
//
// FAILS: deadlock: the worker waits for a signal that was given
// PREEMPTIONS: 1, of the worker between its message and its wait
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>

std::mutex mutex;
std::condition_variable go;
std::binary_semaphore up{0};
int done;

void work() {
  up.release();
  std::unique_lock lock(mutex);
  go.wait(lock);
  done = 1;
}

int main() {
  std::thread worker(work);
  up.acquire();
  {
    std::lock_guard lock(mutex);
    go.notify_one();
  }
  worker.join();
  return done == 1 ? 0 : 1;
}
