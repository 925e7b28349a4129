// The number is drawn and counted up in one section.
#include <cassert>
#include <mutex>
#include <set>
#include <thread>

std::mutex machine;
int next_number = 1;
int looks = 0;
std::set<int> given;

void look_around(int times) {
  for (int i = 0; i < times; ++i) {
    std::lock_guard lock(machine);
    ++looks;
  }
}

void take_number(int patience) {
  look_around(patience);
  int number;
  {
    std::lock_guard lock(machine);
    number = next_number++;
  }
  look_around(patience);
  std::lock_guard lock(machine);
  assert(given.insert(number).second);
}

int main() {
  std::thread first(take_number, 6);
  std::thread second(take_number, 3);
  first.join();
  second.join();
}
