// double_buffer without the bug: the index is looked at again behind the mark.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> front{0};
std::atomic<int> low[2], high[2];
std::atomic<int> reading{-1};

void look() {
  int index = 0;
  do {
    index = front.load();
    reading.store(index);
  } while (front.load() != index);
  const int a = low[index].load();
  const int b = high[index].load();
  reading.store(-1);
  assert(a == b);
}

void change() {
  for (int value = 1; value <= 2; ++value) {
    const int back = 1 - front.load();
    while (reading.load() == back) {
      std::this_thread::yield();
    }
    low[back].store(value);
    high[back].store(value);
    front.store(back);
  }
}

int main() {
  std::thread reader(look);
  std::thread writer(change);
  reader.join();
  writer.join();
}
