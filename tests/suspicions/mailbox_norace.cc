// A request and its answer are handed over by flags under a lock, with a condition variable.
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
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return answered; });
  }
  const int got = answer;
  answer = 0;
  server.join();
  return got == 42 ? 0 : 1;
}
