// Plain accesses of 1, 2, 4, 8 and 16 bytes by two threads, under one lock.
#include "harness.h"

char one;
short two;
int four;
long eight;
__int128 sixteen;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void writer() {
  pthread_mutex_lock(&mutex);
  one = 1;
  two = 2;
  four = 3;
  eight = 4;
  sixteen = 5;
  pthread_mutex_unlock(&mutex);
}

static void other_writer() {
  pthread_mutex_lock(&mutex);
  one = 6;
  two = 7;
  four = 8;
  eight = 9;
  sixteen = 10;
  pthread_mutex_unlock(&mutex);
}

int main() {
  run_threads(writer, other_writer);
}
