// A library that is not instrumented waits for what another thread does, asleep or not: its calls are open while that happens. Each race that mcm reports is a false alarm.
//
// OUTSIDE: outside/outside.c
// FOUND(asleep): mcm
// FOUND(awake): mcm
// FOUND(after): mcm recipe:s recipe      written when the calls may be over
#include <cstdio>
#include <thread>

extern "C" {
void outside_await(const int* p);
void outside_spin(const int* p);
}

namespace {

int first = 0, second = 0;
int asleep = 0, awake = 0, after = 0;

void thread1() {
  outside_await(&first);
  int sum = asleep;  // RACE(asleep)
  outside_spin(&second);
  sum += awake + after;  // RACE(awake) RACE(after)
  std::printf("%d\n", sum);
}

void thread2() {
  asleep = 1;  // RACE(asleep)
  first = 1;
  awake = 1;  // RACE(awake)
  second = 1;
  after = 1;  // RACE(after)
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
}
