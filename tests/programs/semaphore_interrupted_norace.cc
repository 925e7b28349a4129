// A handler without SA_RESTART ends a wait for a semaphore that nobody posts, with and without a time limit.
// OUTPUT: interrupted, interrupted
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

sem_t semaphore;
pthread_t waiter;
int done;

static void handle(int) {}

static const char* tell(int result) {
  return result == -1 && errno == EINTR ? "interrupted" : "woken";
}

static void* interrupt(void*) {
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0) {
    usleep(1000);
    pthread_kill(waiter, SIGUSR1);
  }
  return nullptr;
}

int main() {
  sem_init(&semaphore, 0, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  waiter = pthread_self();
  pthread_t thread;
  pthread_create(&thread, nullptr, interrupt, nullptr);
  const char* first = tell(sem_wait(&semaphore));
  timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 1000;
  const char* second = tell(sem_timedwait(&semaphore, &deadline));
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  pthread_join(thread, nullptr);
  printf("%s, %s\n", first, second);
}
