// A number is drawn in one section and counted up in another, as in split_ticket, but far into a long run of one thread, and
// what must come between is the first that the other thread does.
//
// FAILS: assertion: a number was given twice
// PREEMPTIONS: 2, of the second thread at its beginning and of the first between its two sections
#include <cassert>
#include <mutex>
#include <thread>

std::mutex machine;
int next_number = 1, taken = 0, looks = 0;

void look_around() {
  for (int i = 0; i < 150; ++i) {
    std::lock_guard lock(machine);
    ++looks;
  }
}

void draw() {
  look_around();
  int number;
  {
    std::lock_guard lock(machine);
    number = next_number;
  }
  {
    std::lock_guard lock(machine);
    next_number = number + 1;
    ++taken;
  }
  look_around();
}

void skip() {
  {
    std::lock_guard lock(machine);
    ++next_number;
    ++taken;
  }
  look_around();
}

int main() {
  std::thread drawer(draw), skipper(skip);
  drawer.join();
  skipper.join();
  assert(next_number == taken + 1);
}
