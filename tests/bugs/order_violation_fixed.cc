// The engine is known before its worker starts.
#include <atomic>
#include <thread>

struct Engine {
  std::thread worker;
  std::atomic<int> started{0};
};

Engine* engine;

void work() { engine->started.store(1); }

int main() {
  engine = new Engine;
  engine->worker = std::thread(work);
  engine->worker.join();
  const int started = engine->started.load();
  delete engine;
  return started == 1 ? 0 : 1;
}
