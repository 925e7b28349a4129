// Messages of several kinds in a queue. Whoever takes one applies it to the window, without the lock.
//
// In a serial run the first thread has withdrawn its messages before the second one looks.
#include <deque>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace {

struct Resize {
  int width = 0;
};
struct Rename {
  std::string title;
};
using Message = std::variant<Resize, Rename>;

class Queue {
 public:
  void push(Message message) {
    std::lock_guard<std::mutex> guard(mutex_);
    messages_.push_back(std::move(message));
  }
  std::optional<Message> pop() {
    std::lock_guard<std::mutex> guard(mutex_);
    if (messages_.empty()) {
      return std::nullopt;
    }
    std::optional<Message> front(std::move(messages_.front()));
    messages_.pop_front();
    return front;
  }
  void clear() {
    std::lock_guard<std::mutex> guard(mutex_);
    messages_.clear();
  }

 private:
  std::mutex mutex_;
  std::deque<Message> messages_;
};

struct Window {
  int width = 80;

  void apply(const Message& message) {
    if (const auto* resize = std::get_if<Resize>(&message)) {
      width = resize->width;  // RACE(width)
    }
  }
};

}  // namespace

int main() {
  Queue queue;
  Window window;
  int last = 0;
  std::thread user([&] {
    queue.push(Resize{120});
    queue.push(Rename{"a longer title than fits into the string"});
    queue.clear();
    last = window.width;  // RACE(width)
  });
  std::thread drawer([&] {
    if (const std::optional<Message> message = queue.pop()) {
      window.apply(*message);
    }
  });
  user.join();
  drawer.join();
  std::cout << last << ' ' << window.width << '\n';
}
