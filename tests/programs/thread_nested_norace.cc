// A thread creates a thread and joins it: joining the first orders both.
#include "harness.h"

int value;
pthread_t grandchild_thread;

static void grandchild() {
  value = 1;
}

static void child() {
  grandchild_thread = start(grandchild);
  join(grandchild_thread);
}

int main() {
  join(start(child));
  value = 2;
}
