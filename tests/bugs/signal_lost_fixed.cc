// signal_lost without the bug: one step takes the count and sets it back.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cassert>
#include <csignal>
#include <thread>

std::atomic<int> pending{0};
std::atomic<bool> finished{false};
int told;
sem_t rings;

void ring(int) {
  pending.fetch_add(1);
  sem_post(&rings);
}

void take() { told += pending.exchange(0); }

void work() {
  while (!finished.load()) {
    while (sem_wait(&rings) != 0) {  // interrupted
    }
    take();
  }
  take();
}

void ask(pthread_t worker) {
  pthread_kill(worker, SIGUSR1);
  pthread_kill(worker, SIGUSR2);
  finished.store(true);
  sem_post(&rings);
}

int main() {
  sem_init(&rings, 0, 0);
  std::signal(SIGUSR1, ring);
  std::signal(SIGUSR2, ring);
  std::thread worker(work);
  std::thread asker(ask, worker.native_handle());
  asker.join();
  worker.join();
  assert(told == 2);
}
