// The race that textbooks on prediction begin with. One thread writes a report under the lock. The other takes the
// lock, finds nothing to do, gives it back, and writes too. When the first thread comes first, as it does in nearly
// every run, the lock orders the two and a tool that looks at that order sees no race; but nothing that the second
// thread did under the lock depends on the first.
//
// FOUND(report): wcp      in every run; happens-before sees it only when the second thread comes first
//
// No race: `prepared`, which only the second thread touches until it is joined.
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
int report = 0;
long prepared = 0;

void first() {
  std::lock_guard<std::mutex> guard(mutex);
  report = 1;  // RACE(report)
}

void second() {
  long sum = 0;
  for (int i = 0; i < 500000; ++i) {
    sum += i % 7;
  }
  prepared = sum;
  { std::lock_guard<std::mutex> guard(mutex); }
  report = 2;  // RACE(report)
}

}  // namespace

int main() {
  std::thread one(first), two(second);
  one.join();
  two.join();
  std::printf("report %d, prepared %ld\n", report, prepared);
}
