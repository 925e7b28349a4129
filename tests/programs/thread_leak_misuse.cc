// A thread that is neither joined nor detached: nobody will ever give its memory back.
#include "harness.h"

static void* work(void*) {
  reach(1);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);  // MISUSE(thread-leak)
  await(1);
}
