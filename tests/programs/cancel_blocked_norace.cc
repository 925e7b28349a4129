// Threads are cancelled wherever they wait: semaphore, condition with a deadline, read, accept, poll, sleep, join, sigwait, pause.
// OUTPUT: 9 cancelled
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

sem_t semaphore;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int ends[2];
int listener;
pthread_t sleeper;

static void unlock(void*) {
  pthread_mutex_unlock(&mutex);
}

static void* in_semaphore(void*) {
  for (;;)
    sem_wait(&semaphore);
}
static void* in_condition(void*) {
  timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 10'000;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, nullptr);
  for (;;)
    pthread_cond_timedwait(&never, &mutex, &deadline);
  pthread_cleanup_pop(0);
  return nullptr;
}
static void* in_read(void*) {
  char byte;
  for (;;)
    (void)!read(ends[0], &byte, 1);
}
static void* in_accept(void*) {
  for (;;)
    accept(listener, nullptr, nullptr);
}
static void* in_poll(void*) {
  pollfd asked = {ends[0], POLLIN, 0};
  for (;;)
    poll(&asked, 1, -1);
}
static void* in_sleep(void*) {
  for (;;)
    sleep(10'000);
}
static void* in_join(void*) {
  pthread_join(sleeper, nullptr);
  return nullptr;
}
static void* in_sigwait(void*) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  int number;
  for (;;)
    sigwait(&set, &number);
}
static void* in_pause(void*) {
  for (;;)
    pause();
}

static int cancel(pthread_t thread) {
  void* result = nullptr;
  pthread_cancel(thread);
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED ? 1 : 0;
}

int main() {
  sem_init(&semaphore, 0, 0);
  if (pipe(ends) != 0)
    return 1;
  listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(listener, 1);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  pthread_create(&sleeper, nullptr, in_sleep, nullptr);
  void* (*routines[])(void*) = {in_semaphore, in_condition, in_read, in_accept, in_poll, in_join, in_sigwait, in_pause};
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i)
    pthread_create(&threads[i], nullptr, routines[i], nullptr);
  usleep(1000);
  int cancelled = 0;
  for (pthread_t thread : threads)
    cancelled += cancel(thread);
  cancelled += cancel(sleeper);
  printf("%d cancelled\n", cancelled);
}
