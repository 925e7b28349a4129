// A barrier for four threads that was made for two: whoever arrives second goes on, and finds the part of a neighbour
// missing who has not come yet.
//
// FAILS: assertion: the neighbour's part is missing
// PREEMPTIONS: 0, but a thread must arrive before the neighbour whose part it needs
#include <pthread.h>

#include <array>
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

constexpr int kThreads = 4;
constexpr int kCores = 2;
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
  pthread_barrier_init(&phase, nullptr, kCores);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(smooth, i);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}
