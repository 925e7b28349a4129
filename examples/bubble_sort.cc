// A bubble sort whose passes run in two threads, each on its half of the array. The halves overlap by one element,
// which both threads compare and swap without a lock: a number can be lost.
//
// FOUND(middle): hb wcp   the element in the middle, which both threads read, and one of them writes
// FOUND(swap): hb wcp     the same, when both write it
//
// No race: the other elements, each in the range of one thread; and the rounds, which threads that are joined make.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {

constexpr int kSize = 16;
int numbers[kSize];

// One pass of bubbles from the first element of the range to its last.
void pass(int first, int last) {
  for (int i = first; i < last; ++i) {
    int left = numbers[i], right = numbers[i + 1];  // RACE(middle)
    bool wrong = left > right;
    numbers[i] = wrong ? right : left, numbers[i + 1] = wrong ? left : right;  // RACE(middle) RACE(swap)
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the next turn reads for itself, in the line where it stands
  }
}

bool sorted() {
  for (int i = 0; i + 1 < kSize; ++i) {
    if (numbers[i] > numbers[i + 1]) {
      return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  int sum = 0;
  for (int i = 0; i < kSize; ++i) {
    numbers[i] = (i * 7 + 3) % kSize;
    sum += numbers[i];
  }
  int rounds = 0;
  while (!sorted() && rounds < 2 * kSize) {
    std::thread low(pass, 0, kSize / 2), high(pass, kSize / 2, kSize - 1);
    low.join();
    high.join();
    ++rounds;
  }
  for (int number : numbers) {
    sum -= number;
  }
  std::printf("%s\n", sum == 0 && sorted() ? "sorted" : "a number was lost");
}
