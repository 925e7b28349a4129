// The destructor of a thread_local object runs while the parent goes on.
#include "harness.h"

int value;

struct Guard {
  int touched = 0;
  ~Guard() {
    value = 1;  // RACE(a)
    reach(1);
  }
};

thread_local Guard guard;

static void child() {
  guard.touched = 1;
}

int main() {
  pthread_t thread = start(child);
  await(1);
  value = 2;  // RACE(a)
  join(thread);
}
