// A slot is claimed by whoever exchanges its number first. Who lost looks at the name of the winner, which may not be
// there yet.
//
// In a serial run the first thread wins, writes its name, and the second one looks. That the second one can win is in no
// recorded value.
#include <atomic>
#include <iostream>
#include <thread>

namespace {

struct Slot {
  std::atomic<int> owner{0};
  int badge = 0;
};

bool claim(Slot& slot, int who) {
  int nobody = 0;
  return slot.owner.compare_exchange_strong(nobody, who);
}

}  // namespace

int main() {
  Slot slot;
  int lost_to[2] = {0, 0};
  std::thread first([&] {
    if (claim(slot, 1)) {
      slot.badge = 100;  // RACE(first_wins)
    } else {
      lost_to[0] = slot.badge;  // RACE(second_wins)
    }
  });
  std::thread second([&] {
    if (claim(slot, 2)) {
      slot.badge = 200;  // RACE(second_wins)
    } else {
      lost_to[1] = slot.badge;  // RACE(first_wins)
    }
  });
  first.join();
  second.join();
  std::cout << (slot.owner == 1 ? lost_to[1] : lost_to[0]) / 1000 << '\n';
}
