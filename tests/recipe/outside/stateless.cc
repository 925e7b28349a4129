// Calls into a library of which the user says that it keeps nothing: nothing orders them but what they are given. So what
// stands in front of one call and behind another can meet, unless both are given the same memory.
//
// OUTSIDE: stateless.c
// STATELESS: liboutside
// FOUND(apart): mcm recipe:s recipe rdit
// FOUND(given): mcm
#include <cstdio>
#include <thread>

extern "C" {
int stateless_step(int x);
int stateless_first(const int* p);
}

namespace {

int apart = 0;
int given = 0, for_given = 0;

void thread1() {
  for_given = 1;  // RACE(given)
  given = 1;
  apart = 1;  // RACE(apart)
  stateless_step(0);
}

void thread2() {
  int sum = stateless_step(1) + stateless_first(&given) + for_given;  // RACE(given)
  sum += apart;                                                       // RACE(apart)
  std::printf("%d\n", sum);
}

}  // namespace

int main() {
  std::thread a(thread1), b(thread2);
  a.join();
  b.join();
}
