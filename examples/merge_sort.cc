// A merge sort that sorts halves in threads of their own as long as it believes that there are threads to spare. The
// count of spare threads is an int that every thread changes.
//
// FOUND(take): hb wcp       two threads take a spare thread
// FOUND(give): hb wcp       two threads give theirs back
// FOUND(take_give): hb wcp  one takes a spare thread, one gives its own back
// FOUND(look_take): hb wcp  one looks whether there is a spare thread, one takes it
// FOUND(look_give): hb wcp  one looks whether there is a spare thread, one gives its own back
//
// No race: the numbers. Halves do not overlap, and a thread that merges has joined those that sorted.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

int spare = 8;

bool take_thread() {
  if (spare == 0) {  // RACE(look_take) RACE(look_give)
    return false;
  }
  spare = spare - 1;  // RACE(look_take) RACE(take) RACE(take_give)
  return true;
}

void sort(int* numbers, int count) {
  if (count < 2) {
    return;
  }
  int half = count / 2;
  if (count >= 16 && take_thread()) {
    std::thread left(sort, numbers, half);
    sort(numbers + half, count - half);
    left.join();
    spare = spare + 1;  // RACE(look_give) RACE(take_give) RACE(give)
  } else {
    sort(numbers, half);
    sort(numbers + half, count - half);
  }
  std::inplace_merge(numbers, numbers + half, numbers + count);
}

}  // namespace

int main() {
  std::vector<int> numbers(64);
  for (int i = 0; i < 64; ++i) {
    numbers[i] = (i * 37 + 11) % 64;
  }
  sort(numbers.data(), 64);
  std::puts(std::is_sorted(numbers.begin(), numbers.end()) ? "sorted" : "not sorted");
}
