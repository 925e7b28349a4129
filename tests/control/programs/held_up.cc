// Three threads share a lock that the program makes itself, and wait for it in loops that never block: by giving way, by
// sleeping, by exchanging alone, or with a mutex around each look. Whoever is kept in front of the access inside keeps
// all others there.
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

std::atomic<int> word{0};
std::mutex looking;
bool taken = false;  // guarded by `looking`
int inside = 0;      // guarded by either

bool take(char how) {
  if (how == 'l') {
    const std::lock_guard<std::mutex> guard(looking);
    return !taken && (taken = true);
  }
  if (how == 'c') {
    int expected = 0;
    return word.compare_exchange_strong(expected, 1);
  }
  return word.exchange(1) == 0;
}

void give(char how) {
  if (how == 'l') {
    const std::lock_guard<std::mutex> guard(looking);
    taken = false;
    return;
  }
  word.store(0);
}

void work(char how) {
  for (int i = 0; i < 4; ++i) {
    while (!take(how)) {
      if (how == 's' || how == 'l') {
        usleep(1000);
      } else if (how != 'e') {
        sched_yield();
      }
    }
    inside = inside + 1;  // SITE(1) SITE(2)
    give(how);
  }
}

// The way to wait: yield, sleep, exchange, compare, look.
int main(int, char** arguments) {
  std::thread first(work, *arguments[1]), second(work, *arguments[1]), third(work, *arguments[1]);
  first.join();
  second.join();
  third.join();
  std::printf("%d\n", inside);
}
