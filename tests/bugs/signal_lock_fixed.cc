// The handler leaves a mark, and the thread reports when it sees it.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

std::mutex mutex;
int jobs;
volatile int reported;
sem_t finish;

std::atomic<bool> asked{false};

void mark(int) { asked.store(true); }

void work() {
  {
    std::lock_guard lock(mutex);
    ++jobs;
  }
  while (sem_wait(&finish) != 0) {  // interrupted
  }
  if (asked.load()) {
    std::lock_guard lock(mutex);
    reported = jobs;
  }
}

void ask(pthread_t worker) {
  pthread_kill(worker, SIGUSR1);
  sem_post(&finish);
}

int main() {
  sem_init(&finish, 0, 0);
  std::signal(SIGUSR1, mark);
  std::thread worker(work);
  std::thread asker(ask, worker.native_handle());
  worker.join();
  asker.join();
}
