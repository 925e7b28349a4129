// A reply that did not come in time is waited for again.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable answered;
std::unique_ptr<int> reply;
volatile int status;

void serve() {
  auto made = std::make_unique<int>(200);
  std::lock_guard lock(mutex);
  reply = std::move(made);
  answered.notify_one();
}

void request() {
  std::unique_lock lock(mutex);
  while (!answered.wait_for(lock, std::chrono::milliseconds(100), [] { return reply != nullptr; })) {
  }
  status = *reply;
}

int main() {
  std::thread client(request);
  std::thread server(serve);
  client.join();
  server.join();
  return status == 200 ? 0 : 1;
}
