// Double-checked locking with a plain flag: whoever sees the flag may not see the object.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int object;
bool ready;

static bool is_ready() {
  return ready;  // RACE(a)
}

static void make_ready() {
  ready = true;  // RACE(a)
}

static int get() {
  if (!is_ready()) {
    pthread_mutex_lock(&mutex);
    if (!is_ready()) {
      object = 42;  // RACE(b)
      make_ready();
    }
    pthread_mutex_unlock(&mutex);
  }
  return object;  // RACE(b)
}

int first_copy, second_copy;

int main() {
  run_threads(
      [] {
        first_copy = get();
        reach(1);
      },
      [] {
        await(1);
        second_copy = get();
      });
}
