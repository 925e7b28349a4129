// Elevators of a building: people wait on floors, each floor with a lock of its own, and elevators carry them away.
//
// RACES: none
//
// Apparent races: the floors lie next to each other in one array, but each is touched under its lock only; `served`
// is an atomic that both elevators count with; `position` belongs to one elevator; main looks at everything after
// the join.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

namespace {

constexpr int kFloors = 6;
constexpr int kPeople = 30;

struct Floor {
  std::mutex mutex;
  int waiting = 0;
};

struct Elevator {
  int position = 0;
  int carried = 0;
};

Floor floors[kFloors];
Elevator elevators[2];
std::atomic<int> served{0};

void people() {
  for (int i = 0; i < kPeople; ++i) {
    Floor& floor = floors[i * 5 % kFloors];
    std::lock_guard<std::mutex> guard(floor.mutex);
    ++floor.waiting;
  }
}

void run(Elevator* elevator) {
  while (served.load() < kPeople) {
    Floor& floor = floors[elevator->position];
    int boarding = 0;
    {
      std::lock_guard<std::mutex> guard(floor.mutex);
      boarding = std::exchange(floor.waiting, 0);
    }
    elevator->carried += boarding;
    served.fetch_add(boarding);
    elevator->position = (elevator->position + 1) % kFloors;
    std::this_thread::yield();
  }
}

}  // namespace

int main() {
  std::thread arriving(people), first(run, &elevators[0]), second(run, &elevators[1]);
  arriving.join();
  first.join();
  second.join();
  std::printf("%d people carried\n", elevators[0].carried + elevators[1].carried);
}
