// Two threads take two locks in different orders. Both only try the second one, which is right; but one of them then gives up
// trying, and waits.
//
// FAILS: deadlock: each holds the lock that the other waits for
// PREEMPTIONS: 1, of a thread between its first lock and its second
#include <mutex>
#include <thread>

std::mutex left, right;
int moved;

void move(std::mutex& mine, std::mutex& theirs) {
  std::unique_lock first(mine);
  std::unique_lock second(theirs, std::try_to_lock);
  if (!second.owns_lock()) {
    second.lock();
  }
  ++moved;
}

int main() {
  std::thread one(move, std::ref(left), std::ref(right));
  std::thread two(move, std::ref(right), std::ref(left));
  one.join();
  two.join();
}
