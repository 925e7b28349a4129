// An object is filled, and published under a lock.
#include <mutex>
#include <thread>

struct Config {
  int size, depth;
};

std::mutex mutex;
Config* published;
volatile int seen;

void reader() {
  for (int i = 0; i < 50; ++i) {
    Config* config;
    {
      std::lock_guard lock(mutex);
      config = published;
    }
    if (config != nullptr) {
      seen = config->size + config->depth;
      return;
    }
    std::this_thread::yield();
  }
}

int main() {
  std::thread thread(reader);
  Config* config = new Config;
  config->size = 3;
  config->depth = 4;
  {
    std::lock_guard lock(mutex);
    published = config;
  }
  thread.join();
  delete config;
}
