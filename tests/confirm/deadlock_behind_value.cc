// A deadlock that no reordering of a run reaches in which the first thread is done before the second reads: the read would
// see something else.
#include <pthread.h>

#include <thread>

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
volatile int done;
int seen;

static void one() {
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&first);
  done = 1;
}

static void other() {
  seen = done;
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
}

int main() {
  std::thread a(one), b(other);
  a.join();
  b.join();
}
