// A critical section that two threads guard with flags of their own making: each announces itself and then looks
// whether the other one is there. Without atomics the compiler and the machine may do the two in the other order.
//
// FOUND(flag0): hb wcp    thread 0 announces itself, thread 1 looks
// FOUND(flag1): hb wcp    thread 1 announces itself, thread 0 looks
// FOUND(counter): hb wcp  what the flags should guard: nothing that the language knows orders the two
//
// No race: `tries`, one for each thread.
#include <cstdio>
#include <thread>

namespace {

struct alignas(64) Flag {
  int raised = 0;
};

Flag flags[2];
int counter = 0;
int tries[2];

bool enter_0() {
  flags[0].raised = 1;          // RACE(flag0)
  return flags[1].raised == 0;  // RACE(flag1)
}

bool enter_1() {
  flags[1].raised = 1;          // RACE(flag1)
  return flags[0].raised == 0;  // RACE(flag0)
}

void work_0() {
  tries[0]++;
  if (enter_0()) {
    std::this_thread::yield();
  }
  counter = counter + 1;  // RACE(counter)
}

void work_1() {
  tries[1]++;
  if (enter_1()) {
    std::this_thread::yield();
  }
  counter = counter + 1;  // RACE(counter)
}

}  // namespace

int main() {
  std::thread first(work_0), second(work_1);
  first.join();
  second.join();
  std::printf("%d tries, counter %s\n", tries[0] + tries[1], counter == 2 ? "right" : "wrong");
}
