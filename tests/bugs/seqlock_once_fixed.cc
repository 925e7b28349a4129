// seqlock_once without the bug: the reader looks at the sequence again.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<unsigned> sequence{0};
std::atomic<int> left{0}, right{0};

void change() {
  for (int version = 1; version <= 2; ++version) {
    sequence.fetch_add(1);
    left.store(version);
    right.store(version);
    sequence.fetch_add(1);
  }
}

void look() {
  for (;;) {
    const unsigned before = sequence.load();
    const int a = left.load();
    const int b = right.load();
    if (before % 2 == 0 && sequence.load() == before) {
      assert(a == b);
      return;
    }
    std::this_thread::yield();
  }
}

int main() {
  std::thread reader(look);
  std::thread writer(change);
  reader.join();
  writer.join();
}
