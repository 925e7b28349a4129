// Functions for texts that GCC writes out where the text is known, before another thread looks there.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static char text[10][64];
static int done;
static volatile long sum;

static void *worker(void *argument) {
  strcpy(text[0], "a name");
  stpcpy(text[1], "a name");
  strncpy(text[2], "name", 6);
  sprintf(text[3], "a name");
  snprintf(text[4], 64, "a name");
  memmove(text[5], "a name", 5);
  bzero(text[6], 7);
  text[7][0] = 'n';
  text[8][0] = 'n';
  text[9][0] = 'n';
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  return argument;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0) sched_yield();
  sum += text[0][1];
  sum += text[1][1];
  sum += text[2][1];
  sum += text[3][1];
  sum += text[4][1];
  sum += text[5][1];
  sum += text[6][1];
  sum += strcmp(text[7], "n") == 0;
  sum += strncmp(text[8], "name", 3) == 0;
  sum += memcmp(text[9], "name", 4) == 0;
  pthread_join(thread, 0);
  return 0;
}
