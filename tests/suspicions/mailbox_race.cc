// The request changes after the flag says that it is there.
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
bool asked, answered;
int request, answer;

void serve() {
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return asked; });
  }
  answer = request + 1;
  {
    std::lock_guard lock(mutex);
    answered = true;
  }
  changed.notify_all();
}

int main() {
  std::thread server(serve);
  request = 41;
  {
    std::lock_guard lock(mutex);
    asked = true;
  }
  changed.notify_all();
  request = 42;  // RACE
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return answered; });
  }
  const int got = answer;
  answer = 0;
  server.join();
  return got != 0 ? 0 : 1;
}
