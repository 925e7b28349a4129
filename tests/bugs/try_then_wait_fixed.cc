// try_then_wait without the bug: who does not get the second lock gives the first one back.
#include <mutex>
#include <thread>

std::mutex left, right;
int moved;

void move(std::mutex& mine, std::mutex& theirs) {
  std::unique_lock first(mine, std::defer_lock), second(theirs, std::defer_lock);
  std::lock(first, second);
  ++moved;
}

int main() {
  std::thread one(move, std::ref(left), std::ref(right));
  std::thread two(move, std::ref(right), std::ref(left));
  one.join();
  two.join();
}
