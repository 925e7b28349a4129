// A program that its timers drive: an interval timer, an alarm, a thread that waits for a timer's signal, one that a handler posts for.
// OUTPUT: 5 ticks, alarmed, 3 timed, posted
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t ticks, alarmed;
int timed;
sem_t semaphore;

static void on_tick(int) {
  ticks = ticks + 1;
}
static void on_alarm(int) {
  alarmed = 1;
}
static void on_user(int) {
  sem_post(&semaphore);
}

static void* wait_for_timer(void*) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  for (int i = 0; i < 3; ++i) {
    int number;
    sigwait(&set, &number);
    ++timed;
  }
  return nullptr;
}

int main() {
  sem_init(&semaphore, 0, 0);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPROF, on_tick);
  signal(SIGALRM, on_alarm);
  signal(SIGUSR1, on_user);
  pthread_t waiter;
  pthread_create(&waiter, nullptr, wait_for_timer, nullptr);
  sigset_t others = set;
  sigaddset(&others, SIGPROF);
  sigaddset(&others, SIGALRM);
  sigset_t none;
  pthread_sigmask(SIG_BLOCK, &others, &none);
  sigdelset(&none, SIGPROF);
  sigdelset(&none, SIGALRM);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  itimerspec every = {{0, 1'000'000}, {0, 1'000'000}};
  timer_settime(timer, 0, &every, nullptr);
  pthread_join(waiter, nullptr);
  timer_delete(timer);
  timer_t profile;
  event.sigev_signo = SIGPROF;
  timer_create(CLOCK_MONOTONIC, &event, &profile);
  timer_settime(profile, 0, &every, nullptr);
  while (ticks < 5)
    sigsuspend(&none);
  timer_delete(profile);
  ualarm(1000, 0);
  while (alarmed == 0)
    sigsuspend(&none);
  raise(SIGUSR1);
  sem_wait(&semaphore);
  printf("%d ticks, %s, %d timed, posted\n", ticks >= 5 ? 5 : 0, alarmed == 1 ? "alarmed" : "not alarmed", timed);
}
