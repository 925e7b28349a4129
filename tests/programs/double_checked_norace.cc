// Double-checked locking with an atomic flag.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int object;
bool ready;

static bool is_ready() {
  return __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
}

static void make_ready() {
  __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

static int get() {
  if (!is_ready()) {
    pthread_mutex_lock(&mutex);
    if (!is_ready()) {
      object = 42;
      make_ready();
    }
    pthread_mutex_unlock(&mutex);
  }
  return object;
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
