// The destructor of a thread_local object has run when its thread is joined.
#include "harness.h"

int value;

struct Guard {
  int touched = 0;
  ~Guard() { value = 1; }
};

thread_local Guard guard;

static void child() {
  guard.touched = 1;
}

int main() {
  pthread_t thread = start(child);
  join(thread);
  value = 2;
}
