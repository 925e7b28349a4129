// A timer that repeats counts in threads of its own, beside the first thread, which counts as well.
// TSAN: skip, it does not know such threads
#include <signal.h>
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int ticks, count;

static void tick(sigval) {
  ++count;  // RACE(a) RACE(b)
  pthread_mutex_lock(&mutex);
  ++ticks;
  pthread_mutex_unlock(&mutex);
}

int main() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = tick;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  itimerspec often = {{0, 2'000'000}, {0, 2'000'000}};
  timer_settime(timer, 0, &often, nullptr);
  for (int seen = 0; seen < 3;) {
    pthread_mutex_lock(&mutex);
    seen = ticks;
    pthread_mutex_unlock(&mutex);
    ++count;  // RACE(a)
    sched_yield();
  }
  timer_delete(timer);
}
