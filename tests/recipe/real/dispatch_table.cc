// Instructions are dispatched through a table of functions. The instruction that is next is chosen under a lock.
//
// In a serial run it is "idle" when the second thread executes it.
#include <cstdint>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

struct Machine {
  int position = 0;
  int accumulator = 1;
};

void idle(Machine&) {}
void twice(Machine& machine) { machine.accumulator *= 2; }  // RACE(accumulator)
void rewind(Machine& machine) { machine.position = 0; }     // RACE(position)

using Handler = void (*)(Machine&);
constexpr Handler kHandlers[] = {idle, twice, rewind, idle};

class Control {
 public:
  void set(std::uint8_t code) {
    std::lock_guard<std::mutex> guard(mutex_);
    code_ = code;
  }
  std::uint8_t get() {
    std::lock_guard<std::mutex> guard(mutex_);
    return code_;
  }

 private:
  std::mutex mutex_;
  std::uint8_t code_ = 2;
};

}  // namespace

int main() {
  Machine machine;
  Control control;
  int position = 0, accumulator = 0;
  std::thread driver([&] {
    position = machine.position;  // RACE(position)
    control.set(1);
    accumulator = machine.accumulator;  // RACE(accumulator)
    control.set(3);
  });
  std::thread executor([&] {
    const std::uint8_t code = control.get();
    if (code < sizeof kHandlers / sizeof *kHandlers) {
      kHandlers[code](machine);
    }
  });
  driver.join();
  executor.join();
  std::cout << position << ' ' << accumulator << '\n';
}
