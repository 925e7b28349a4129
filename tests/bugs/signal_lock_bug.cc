// A signal handler takes the lock that the interrupted thread may hold.
//
// FAILS: deadlock: the handler waits for its own thread
// PREEMPTIONS: 1, of the worker in its section; the signal must come then
#include <pthread.h>
#include <semaphore.h>

#include <csignal>
#include <mutex>
#include <thread>

std::mutex mutex;
int jobs;
volatile int reported;
sem_t finish;

void report(int) {
  mutex.lock();
  reported = jobs;
  mutex.unlock();
}

void work() {
  {
    std::lock_guard lock(mutex);
    ++jobs;
  }
  while (sem_wait(&finish) != 0) {  // interrupted
  }
}

void ask(pthread_t worker) {
  pthread_kill(worker, SIGUSR1);
  sem_post(&finish);
}

int main() {
  sem_init(&finish, 0, 0);
  std::signal(SIGUSR1, report);
  std::thread worker(work);
  std::thread asker(ask, worker.native_handle());
  worker.join();
  asker.join();
}
