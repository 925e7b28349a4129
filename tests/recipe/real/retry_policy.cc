// Requests are tried again, with a pause that doubles, until the server is back. The log of pauses has no lock.
//
// In a serial run the server is back before the client asks, and the first try succeeds.
#include <array>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

class Server {
 public:
  void come_back() {
    std::lock_guard<std::mutex> guard(mutex_);
    down_ = false;
  }
  bool ask() {
    std::lock_guard<std::mutex> guard(mutex_);
    ++asked_;
    return !down_;
  }

 private:
  std::mutex mutex_;
  bool down_ = true;
  int asked_ = 0;
};

struct Log {
  std::array<int, 4> pauses{};
  std::size_t count = 0;

  void add(int pause) {
    pauses[count % pauses.size()] = pause;
    ++count;  // RACE(count)
  }
};

bool request(Server& server, Log& log) {
  int pause = 10;
  for (int i = 0; i < 3; ++i) {
    if (server.ask()) {
      return true;
    }
    log.add(pause);
    pause *= 2;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

int main() {
  Server server;
  Log log;
  std::size_t pauses = 0;
  bool served = false;
  std::thread operating([&] {
    server.come_back();
    pauses = log.count;  // RACE(count)
  });
  std::thread client([&] { served = request(server, log); });
  operating.join();
  client.join();
  std::cout << pauses << ' ' << (served ? "served" : "not served") << '\n';
}
