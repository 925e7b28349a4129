// Whoever arrives at a barrier and does not wait goes on beside those that do.
#include <barrier>
#include <utility>

#include "harness.h"

std::barrier<> meeting(2);
int value;

static void early() {
  auto token = meeting.arrive();
  await(1);
  value = 1;  // RACE(a)
  reach(2);
  meeting.wait(std::move(token));
}
static void late() {
  meeting.arrive_and_wait();
  reach(1);
  await(2);
  value = 2;  // RACE(a)
}

int main() { run_threads(early, late); }
