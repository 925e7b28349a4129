// A vending machine: states, a table of what follows what, and the money inside. Who gets change is noted without the lock.
//
// In a serial run the customer has cancelled before the second thread presses the button.
#include <array>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

enum class State { kIdle, kPaying, kReady, kOut };
enum class Input { kCoin, kButton, kCancel };

State next(State state, Input input) {
  switch (state) {
    case State::kIdle:
      return input == Input::kCoin ? State::kPaying : State::kIdle;
    case State::kPaying:
      switch (input) {
        case Input::kCoin: return State::kReady;
        case Input::kButton: return State::kPaying;
        case Input::kCancel: return State::kIdle;
      }
      break;
    case State::kReady:
      return input == Input::kButton ? State::kOut : input == Input::kCancel ? State::kIdle : State::kReady;
    case State::kOut: return State::kOut;
  }
  throw std::logic_error("no such state");
}

class Machine {
 public:
  explicit Machine(int price) : price_(price) {}

  void coin(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    state_ = next(state_, Input::kCoin);
    inserted_ += value;
  }
  int cancel() {
    std::lock_guard<std::mutex> guard(mutex_);
    state_ = next(state_, Input::kCancel);
    const int back = inserted_;
    inserted_ = 0;
    return back;
  }
  // What is too much; negative: nothing is sold.
  int press(std::size_t shelf) {
    int change = -1;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      const State then = next(state_, Input::kButton);
      if (then == State::kOut && shelf < stock_.size() && stock_[shelf] > 0 && inserted_ >= price_) {
        --stock_[shelf];
        change = inserted_ - price_;
        inserted_ = 0;
        state_ = State::kIdle;
      }
    }
    return change;
  }

 private:
  const int price_;
  std::mutex mutex_;
  State state_ = State::kIdle;
  int inserted_ = 0;
  std::array<int, 3> stock_{2, 0, 5};
};

}  // namespace

int main() {
  Machine machine(150);
  machine.coin(100);
  machine.coin(100);
  int returned = 0, change = 0, noted = 0;
  std::thread customer([&] {
    returned = machine.cancel();
    noted = change;  // RACE(change)
  });
  std::thread other([&] {
    const int got = machine.press(0);
    if (got >= 0) {
      change = got;  // RACE(change)
    }
  });
  customer.join();
  other.join();
  std::cout << returned << ' ' << noted << '\n';
}
