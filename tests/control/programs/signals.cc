// Handlers that run in threads that are busy, blocked and waiting for a signal.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

std::atomic<int> handled{0};

void handle(int) { ++handled; }

int main() {
  struct sigaction action = {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  raise(SIGUSR1);
  std::thread worker([] {
    while (handled < 2) {
    }
  });
  pthread_kill(worker.native_handle(), SIGUSR1);
  worker.join();
  alarm(1);
  pause();
  std::printf("%d\n", handled.load());
}
