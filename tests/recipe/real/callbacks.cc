// A button with a callback, which is a std::function that the program may replace.
//
// In a serial run the callback has been replaced by one that does nothing before the button is pressed.
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace {

class Button {
 public:
  using Callback = std::function<void(const std::string&)>;

  void on_press(Callback callback) {
    std::lock_guard<std::mutex> guard(mutex_);
    callback_ = std::move(callback);
  }
  void press(const std::string& who) {
    Callback callback;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      callback = callback_;
    }
    if (callback) {
      callback(who);
    }
  }

 private:
  std::mutex mutex_;
  Callback callback_;
};

struct Counter {
  int presses = 0;
  std::size_t letters = 0;
};

}  // namespace

int main() {
  Button button;
  Counter counter;
  button.on_press([&counter](const std::string& who) {
    counter.presses++;  // RACE(presses)
    counter.letters += who.size();
  });
  int seen = 0;
  std::thread closing([&] {
    button.on_press(nullptr);
    seen = counter.presses;  // RACE(presses)
  });
  std::thread user([&] { button.press("somebody"); });
  closing.join();
  user.join();
  std::cout << seen << '\n';
}
