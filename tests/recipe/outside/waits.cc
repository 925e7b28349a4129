// A library that is not instrumented waits for what another thread does, where the run time library can see that or not: its calls are open while that happens. Each race that mcm reports is a false alarm.
//
// OUTSIDE: library.c
// FOUND(unseen): mcm
// FOUND(seen): mcm
#include <cstdio>
#include <thread>

extern "C" {
void outside_await(const int* p);
void outside_await_kernel(const int* p);
}

namespace {

int first = 0, second = 0;
int seen = 0, unseen = 0;

void thread1() {
  outside_await_kernel(&first);
  int sum = unseen;  // RACE(unseen)
  outside_await(&second);
  sum += seen;  // RACE(seen)
  std::printf("%d\n", sum);
}

void thread2() {
  unseen = 1;  // RACE(unseen)
  first = 1;
  seen = 1;  // RACE(seen)
  second = 1;
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
}
