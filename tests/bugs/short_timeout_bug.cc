// The reply is waited for with a time limit, and whether it came is not asked.
//
// FAILS: crash: there is no reply
// PREEMPTIONS: 0; the time limit must pass before the server has answered, which takes a busy machine
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
  answered.wait_for(lock, std::chrono::milliseconds(100), [] { return reply != nullptr; });
  status = *reply;
}

int main() {
  std::thread client(request);
  std::thread server(serve);
  client.join();
  server.join();
  return status == 200 ? 0 : 1;
}
