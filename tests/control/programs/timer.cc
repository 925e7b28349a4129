// Every thread that we know waits, but one that libc has started for a timer comes to the rescue.
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <cstdio>
#include <thread>

sem_t semaphore;

int main() {
  sem_init(&semaphore, 0, 0);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval) { sem_post(&semaphore); };
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 2;
  itimerspec time = {{0, 0}, {0, 50'000'000}};
  timer_settime(timer, 0, &time, nullptr);
  std::thread waiter([] { sem_wait(&semaphore); });
  waiter.join();
  std::puts("done");
}
