// Whoever arrives at a barrier hands on what it did before, and what it does in between is its own.
#include <barrier>
#include <utility>

#include "harness.h"

std::barrier<> meeting(2);
int value, own, sum;

static void early() {
  value = 1;
  auto token = meeting.arrive();
  own = 1;
  meeting.wait(std::move(token));
  meeting.arrive_and_drop();
}
static void late() {
  meeting.arrive_and_wait();
  value += 1;
  meeting.arrive_and_wait();
  sum = own;
}

int main() {
  run_threads(early, late);
  return value + sum == 3 ? 0 : 1;
}
