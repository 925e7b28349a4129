// deque_last without the bug: the last item goes to who moves the top.
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
  int at = last;
  if (top.compare_exchange_strong(at, at + 1)) {
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
