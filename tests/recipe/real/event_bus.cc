// Events go to whoever has subscribed. A subscriber counts what it was told in a plain variable.
//
// In a serial run the subscriber has left before the event is published.
#include <cstdint>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Event {
  std::string topic;
  int payload = 0;
};

class Bus {
 public:
  using Handler = std::function<void(const Event&)>;

  int subscribe(std::string topic, Handler handler) {
    std::lock_guard<std::mutex> guard(mutex_);
    subscriptions_.push_back({++last_id_, std::move(topic), std::move(handler)});
    return last_id_;
  }

  void unsubscribe(int id) {
    std::lock_guard<std::mutex> guard(mutex_);
    for (Subscription& subscription : subscriptions_) {
      if (subscription.id == id) {
        subscription.active = false;
      }
    }
  }

  int publish(const Event& event) {
    std::vector<const Handler*> to_call;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      for (const Subscription& subscription : subscriptions_) {
        if (subscription.active && subscription.topic == event.topic) {
          to_call.push_back(&subscription.handler);
        }
      }
    }
    for (const Handler* handler : to_call) {
      (*handler)(event);
    }
    return static_cast<int>(to_call.size());
  }

 private:
  struct Subscription {
    int id = 0;
    std::string topic;
    Handler handler;
    bool active = true;
  };

  std::mutex mutex_;
  std::vector<Subscription> subscriptions_;
  int last_id_ = 0;
};

}  // namespace

int main() {
  Bus bus;
  int received = 0, seen = 0, told = 0;
  const int id = bus.subscribe("price", [&](const Event& event) {
    received += event.payload;  // RACE(received)
  });
  bus.subscribe("news", [](const Event&) {});
  std::thread leaving([&] {
    bus.unsubscribe(id);
    seen = received;  // RACE(received)
  });
  std::thread publisher([&] { told = bus.publish({"price", 12}); });
  leaving.join();
  publisher.join();
  std::cout << seen << ' ' << told << '\n';
}
