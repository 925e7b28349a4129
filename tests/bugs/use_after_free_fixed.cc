// The sender holds a reference while it uses the connection.
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Connection {
  static constexpr int kOpen = 0x5eed;
  volatile int mark = kOpen;
  int sent = 0;
  ~Connection() { mark = 0; }
};

std::mutex mutex;
std::shared_ptr<Connection> connection = std::make_shared<Connection>();
std::mutex log_mutex;
int log_lines;

void write_log() {
  std::lock_guard lock(log_mutex);
  ++log_lines;
}

std::shared_ptr<Connection> current() {
  std::lock_guard lock(mutex);
  return connection;
}

void send() {
  const std::shared_ptr<Connection> to = current();
  if (to) {
    write_log();
    assert(to->mark == Connection::kOpen);
    to->sent++;
  }
}

void hang_up() {
  std::lock_guard lock(mutex);
  connection.reset();
}

int main() {
  std::thread sender(send);
  std::thread closer(hang_up);
  sender.join();
  closer.join();
}
