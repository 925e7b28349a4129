// A handler takes a lock: the thread waits for itself if it is interrupted where it holds it.
#include <signal.h>

#include <mutex>

#include "harness.h"

std::mutex mutex;
int value;

static void handle(int) {
  mutex.lock();  // MISUSE(signal-unsafe)
  ++value;
  mutex.unlock();
  reach(2);
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_t thread = start([] {
    reach(1);
    await(2);
  });
  await(1);
  pthread_kill(thread, SIGUSR1);
  join(thread);
}
