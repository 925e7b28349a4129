// Deadlocks of every kind, by name.
#include <pthread.h>
#include <semaphore.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::mutex lock, second;
std::shared_mutex shared, read_by_main;
std::condition_variable condition;
sem_t semaphore;
pthread_barrier_t barrier;
pthread_spinlock_t spin;
std::promise<int> promise;
std::latch latch(2);

int main(int, char** arguments) {
  const char* how = arguments[1];
  auto is = [how](const char* name) { return std::strcmp(how, name) == 0; };
  sem_init(&semaphore, 0, 0);
  pthread_barrier_init(&barrier, nullptr, 2);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  lock.lock();
  shared.lock();
  read_by_main.lock_shared();
  pthread_spin_lock(&spin);
  std::thread waiter([&] {
    if (is("mutex")) lock.lock();
    if (is("rwlock")) shared.lock_shared();
    if (is("reader")) read_by_main.lock();
    if (is("reader in a circle")) {
      second.lock();
      sem_post(&semaphore);
      read_by_main.lock();
    }
    if (is("spin")) pthread_spin_lock(&spin);
    if (is("semaphore")) sem_wait(&semaphore);
    if (is("barrier")) pthread_barrier_wait(&barrier);
    if (is("future")) promise.get_future().get();
    if (is("latch")) latch.arrive_and_wait();
    if (is("condition")) {
      std::mutex own;
      std::unique_lock<std::mutex> hold(own);
      condition.wait(hold);
    }
  });
  if (is("reader in a circle")) {
    sem_wait(&semaphore);
    second.lock();
  }
  waiter.join();
  std::puts("done");
}
