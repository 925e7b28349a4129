// A thread creates a thread and does not join it: joining the first does not order the second.
#include "harness.h"

int value;
pthread_t grandchild_thread;

static void grandchild() {
  value = 1;  // RACE(a)
  reach(1);
}

static void child() {
  grandchild_thread = start(grandchild);
}

int main() {
  join(start(child));
  await(1);
  value = 2;  // RACE(a)
  join(grandchild_thread);
}
