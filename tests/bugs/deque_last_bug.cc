// Work stealing: the owner takes from the bottom, a thief from the top. Both look at the size first, and the last item is taken twice.
//
// FAILS: assertion: one item is done twice
// PREEMPTIONS: 1, of the owner between its look and its deed
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> top{0}, bottom{1};
std::atomic<int> done{0};

void steal() {
  int at = top.load();
  if (at < bottom.load() && top.compare_exchange_strong(at, at + 1)) {
    done.fetch_add(1);
  }
}

void take() {
  const int last = bottom.load() - 1;
  if (top.load() <= last) {
    bottom.store(last);
    done.fetch_add(1);
  }
}

int main() {
  std::thread thief(steal);
  std::thread owner(take);
  thief.join();
  owner.join();
  assert(done.load() == 1);
}
