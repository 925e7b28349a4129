// An elevator: plain enums and integers under one lock, but for the door.
//
// In a serial run the elevator is on its way when the second thread wants to open the door.
#include <iostream>
#include <mutex>
#include <thread>

namespace {

enum class Motion : unsigned char { kStands, kUp, kDown };
enum class Door : unsigned char { kClosed, kOpen };

struct Elevator {
  std::mutex mutex;
  int floor = 0, target = 0;
  Motion motion = Motion::kStands;
  Door door = Door::kClosed;

  void call(int to) {
    std::lock_guard<std::mutex> guard(mutex);
    target = to;
    motion = to > floor ? Motion::kUp : to < floor ? Motion::kDown : Motion::kStands;
  }
  bool stands() {
    std::lock_guard<std::mutex> guard(mutex);
    return motion == Motion::kStands && floor == target;
  }
};

}  // namespace

int main() {
  Elevator elevator;
  bool was_open = false;
  std::thread passenger([&] {
    elevator.call(3);
    was_open = elevator.door == Door::kOpen;  // RACE(door)
  });
  std::thread button([&] {
    if (elevator.stands()) {
      std::cout << "door opens\n";
      elevator.door = Door::kOpen;  // RACE(door)
    }
  });
  passenger.join();
  button.join();
  std::cout << (elevator.target == 3) << ' ' << was_open << '\n';
}
