// The state is checked in one section and changed in another: the machine starts twice.
#include <cassert>
#include <mutex>
#include <thread>

enum class State { kIdle, kRunning };
std::mutex state_mutex;
State state = State::kIdle;
int starts = 0;

bool is_idle() {
  std::lock_guard guard(state_mutex);
  return state == State::kIdle;
}

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(state_mutex);
  if (state == State::kIdle) {
    state = State::kRunning;
    ++starts;
  }
}
#else
void work(int) {
  if (is_idle()) {
    std::lock_guard guard(state_mutex);
    state = State::kRunning;
    ++starts;
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(starts == 1 && !is_idle());
}
