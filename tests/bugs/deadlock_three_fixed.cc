// Both locks are taken at once, in an order that std::scoped_lock finds.
#include <array>
#include <mutex>
#include <thread>
#include <vector>

struct Stage {
  std::mutex mutex;
  int items = 1;
};

std::array<Stage, 3> stages;

void pass_on(int from) {
  Stage& here = stages[from];
  Stage& next = stages[(from + 1) % 3];
  std::scoped_lock both(here.mutex, next.mutex);
  here.items--;
  next.items++;
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(pass_on, i);
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return stages[0].items + stages[1].items + stages[2].items == 3 ? 0 : 1;
}
