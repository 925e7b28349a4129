// Eight threads use every primitive in a random order, with signals in between: whatever happens, locks are held by one
// thread at a time and nobody is forgotten.
// OUTPUT: done
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

constexpr int kThreads = 8;
pthread_mutex_t mutexes[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_cond_t conditions[4] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_spinlock_t spin;
pthread_barrier_t barrier;
sem_t semaphore;
int values[4], counted, shared, spun, initialised;

static void initialise() { initialised = 1; }
static void handle(int) {}

static void* add_one(void* p) {
  ++*static_cast<int*>(p);
  return nullptr;
}

static timespec soon(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 200'000;
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_nsec -= 1'000'000'000;
    ++time.tv_sec;
  }
  return time;
}

static void step(unsigned choice, int i) {
  timespec time;
  switch (choice) {
    case 0:
      pthread_mutex_lock(&mutexes[i]);
      ++values[i];
      pthread_mutex_unlock(&mutexes[i]);
      break;
    case 1:
      if (pthread_mutex_trylock(&mutexes[i]) != 0) break;
      ++values[i];
      pthread_mutex_unlock(&mutexes[i]);
      break;
    case 2:
      time = soon(CLOCK_MONOTONIC);
      if (pthread_mutex_clocklock(&mutexes[i], CLOCK_MONOTONIC, &time) != 0) break;
      ++values[i];
      pthread_mutex_unlock(&mutexes[i]);
      break;
    case 3:
      time = soon(CLOCK_REALTIME);
      pthread_mutex_lock(&mutexes[i]);
      pthread_cond_timedwait(&conditions[i], &mutexes[i], &time);
      ++values[i];
      pthread_mutex_unlock(&mutexes[i]);
      break;
    case 4:
      pthread_cond_broadcast(&conditions[i]);
      break;
    case 5:
      pthread_mutex_lock(&recursive);
      pthread_mutex_lock(&recursive);
      ++counted;
      pthread_mutex_unlock(&recursive);
      ++counted;
      pthread_mutex_unlock(&recursive);
      break;
    case 6:
      pthread_rwlock_rdlock(&rwlock);
      i += shared;
      pthread_rwlock_unlock(&rwlock);
      break;
    case 7:
      pthread_rwlock_wrlock(&rwlock);
      ++shared;
      pthread_rwlock_unlock(&rwlock);
      break;
    case 8:
      sem_post(&semaphore);
      break;
    case 9:
      time = soon(CLOCK_REALTIME);
      sem_timedwait(&semaphore, &time);
      break;
    case 10:
      pthread_spin_lock(&spin);
      ++spun;
      pthread_spin_unlock(&spin);
      break;
    default:
      pthread_once(&once, initialise);
      i += initialised;
      pthread_kill(pthread_self(), SIGUSR1);
  }
}

static void* run(void* argument) {
  auto random = static_cast<unsigned>(reinterpret_cast<uintptr_t>(argument)) * 7919 + 1;
  for (int i = 0; i < 150; ++i) {
    random = random * 1103515245 + 12345;
    step((random >> 20) % 12, random >> 16 & 3);
    if (i % 50 != 49) continue;
    pthread_barrier_wait(&barrier);
    pthread_t thread;
    int one = 0;
    pthread_create(&thread, nullptr, add_one, &one);
    pthread_join(thread, nullptr);
    if (one != 1) puts("lost");
  }
  return nullptr;
}

int main() {
  signal(SIGUSR1, handle);
  sem_init(&semaphore, 0, 3);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&barrier, nullptr, kThreads);
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], nullptr, run, reinterpret_cast<void*>(i));
  for (int i = 0; i < 10; ++i) {
    usleep(300);
    pthread_kill(threads[i % kThreads], SIGUSR1);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  pthread_barrier_destroy(&barrier);
  puts("done");
}
