// Two threads add to a counter without a lock: what it is in the end depends on the schedule.
#include <cstdio>
#include <thread>

int counter = 0;

void add() {
  for (int i = 0; i < 50; ++i) {
    int seen = counter;  // SITE(1)
    counter = seen + 1;  // SITE(2)
  }
}

int main() {
  std::thread a(add), b(add);
  a.join();
  b.join();
  std::printf("%d\n", counter);
}
