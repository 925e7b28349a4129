// A thread waits for a semaphore that its own signal handler posts.
// OUTPUT: 1
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

sem_t semaphore;
volatile sig_atomic_t handled;
pthread_t main_thread;

static void handle(int) {
  handled = 1;
  sem_post(&semaphore);
}

static void* raise_signal(void*) {
  usleep(2000);
  pthread_kill(main_thread, SIGUSR1);
  return nullptr;
}

int main() {
  sem_init(&semaphore, 0, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  main_thread = pthread_self();
  pthread_t thread;
  pthread_create(&thread, nullptr, raise_signal, nullptr);
  while (sem_wait(&semaphore) != 0) {
  }
  printf("%d\n", static_cast<int>(handled));
  pthread_join(thread, nullptr);
}
