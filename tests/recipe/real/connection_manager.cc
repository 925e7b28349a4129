// Connections of a server. One thread closes what has been idle for long, another one sends. Bytes are counted without
// the lock.
//
// In a serial run the connection is closed when the sender comes, so nothing is sent.
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace {

enum class State { kOpen, kClosing, kClosed };

struct Connection {
  std::string peer;
  State state = State::kOpen;
  int idle = 0;
};

class Manager {
 public:
  void open(int id, std::string peer, int idle) {
    std::lock_guard<std::mutex> guard(mutex_);
    connections_[id] = {std::move(peer), State::kOpen, idle};
  }

  void close_idle(int limit) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      for (auto& [id, connection] : connections_) {
        if (connection.idle > limit) {
          connection.state = State::kClosed;
          ++closed_;
        }
      }
    }
    summary_ = "sent so far: " + std::to_string(sent_);  // RACE(sent)
  }

  bool send(int id, const std::string& text) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      const auto found = connections_.find(id);
      if (found == connections_.end() || found->second.state != State::kOpen) {
        return false;
      }
      found->second.idle = 0;
    }
    sent_ += text.size();  // RACE(sent)
    return true;
  }

  int closed() {
    std::lock_guard<std::mutex> guard(mutex_);
    return closed_;
  }
  const std::string& summary() const { return summary_; }

 private:
  std::mutex mutex_;
  std::map<int, Connection> connections_;
  int closed_ = 0;
  std::size_t sent_ = 0;
  std::string summary_;
};

}  // namespace

int main() {
  Manager manager;
  manager.open(1, "alpha", 30);
  manager.open(2, "beta", 2);
  bool was_sent = false;
  std::thread closer([&] { manager.close_idle(10); });
  std::thread sender([&] { was_sent = manager.send(1, "hello"); });
  closer.join();
  sender.join();
  std::cout << manager.closed() << " closed, " << was_sent << ", " << manager.summary() << '\n';
}
