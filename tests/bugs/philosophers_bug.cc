// Three philosophers, three forks, and a doorman who is to let two in, but counts from zero and lets three in.
//
// FAILS: deadlock: each has the left fork
// PREEMPTIONS: 2, of two philosophers between their forks
#include <array>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

constexpr int kSeats = 3;
constexpr int kLastSeat = kSeats - 1;
std::array<std::mutex, kSeats> forks;
std::counting_semaphore<kSeats> room{kLastSeat + 1};
std::array<int, kSeats> meals;

void dine(int seat) {
  room.acquire();
  {
    std::lock_guard left(forks[seat]);
    std::lock_guard right(forks[(seat + 1) % kSeats]);
    meals[seat]++;
  }
  room.release();
}

int main() {
  std::vector<std::thread> philosophers;
  for (int seat = 0; seat < kSeats; ++seat) {
    philosophers.emplace_back(dine, seat);
  }
  for (auto& philosopher : philosophers) {
    philosopher.join();
  }
  return meals[0] + meals[1] + meals[2] == kSeats ? 0 : 1;
}
