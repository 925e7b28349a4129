// A sender looks whether the connection is there and then uses it; the thread that hangs up frees it in between.
//
// FAILS: assertion (the connection's mark is gone), or a crash
// PREEMPTIONS: 1, of the sender between the look and the use
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Connection {
  static constexpr int kOpen = 0x5eed;
  volatile int mark = kOpen;
  int sent = 0;
  ~Connection() { mark = 0; }
};

std::atomic<Connection*> connection{new Connection};
std::mutex log_mutex;
int log_lines;

void write_log() {
  std::lock_guard lock(log_mutex);
  ++log_lines;
}

void send() {
  Connection* to = connection.load();
  if (to != nullptr) {
    write_log();
    assert(to->mark == Connection::kOpen);
    to->sent++;
  }
}

void hang_up() { delete connection.exchange(nullptr); }

int main() {
  std::thread sender(send);
  std::thread closer(hang_up);
  sender.join();
  closer.join();
}
