// The number is drawn and counted up in one section.
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
  {
    std::lock_guard lock(machine);
    ++next_number;
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
