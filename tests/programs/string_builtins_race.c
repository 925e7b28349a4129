// Functions for texts that GCC writes out where the text is known, at the places of another thread's.
// TSAN: some, GCC writes them out behind its hooks
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
  strcpy(text[0], "a name");  // RACE(a)
  stpcpy(text[1], "a name");  // RACE(b)
  strncpy(text[2], "name", 6);  // RACE(c)
  sprintf(text[3], "a name");  // RACE(d)
  snprintf(text[4], 64, "a name");  // RACE(e)
  memmove(text[5], "a name", 5);  // RACE(f)
  bzero(text[6], 7);  // RACE(g)
  text[7][0] = 'n';  // RACE(h)
  text[8][0] = 'n';  // RACE(i)
  text[9][0] = 'n';  // RACE(j)
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  return argument;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  while (__atomic_load_n(&done, __ATOMIC_RELAXED) == 0) sched_yield();
  sum += text[0][1];  // RACE(a)
  sum += text[1][1];  // RACE(b)
  sum += text[2][1];  // RACE(c)
  sum += text[3][1];  // RACE(d)
  sum += text[4][1];  // RACE(e)
  sum += text[5][1];  // RACE(f)
  sum += text[6][1];  // RACE(g)
  sum += strcmp(text[7], "n") == 0;  // RACE(h)
  sum += strncmp(text[8], "name", 3) == 0;  // RACE(i)
  sum += memcmp(text[9], "name", 4) == 0;  // RACE(j)
  pthread_join(thread, 0);
  return 0;
}
