// The thread uses the engine's handle, which its creator stores only after it has created the thread.
//
// FAILS: crash: a null handle is used
// PREEMPTIONS: 1, of main between the creation and the store
#include <atomic>
#include <thread>

struct Engine {
  std::thread worker;
  std::atomic<int> started{0};
};

Engine* engine;  // what the worker knows its engine by

void work() { engine->started.store(1); }

Engine* make_engine() {
  auto* made = new Engine;
  made->worker = std::thread(work);
  return made;
}

int main() {
  engine = make_engine();
  engine->worker.join();
  const int started = engine->started.load();
  delete engine;
  return started == 1 ? 0 : 1;
}
