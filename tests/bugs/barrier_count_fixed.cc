// The barrier waits for all threads.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

constexpr int kThreads = 4;
pthread_barrier_t phase;
std::array<std::atomic<int>, kThreads> part;

void smooth(int me) {
  part[me].store(me + 1);
  pthread_barrier_wait(&phase);
  if (me > 0) {
    assert(part[me - 1].load() == me);
  }
}

int main() {
  pthread_barrier_init(&phase, nullptr, kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(smooth, i);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}
