// Whether it was made is asked in one section, and it is made in another: it is made twice.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex config_mutex;
int* config = nullptr;
int made = 0;

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(config_mutex);
  if (config == nullptr) {
    config = new int(++made);
  }
}
#else
void work(int) {
  bool missing;
  {
    std::lock_guard guard(config_mutex);
    missing = config == nullptr;
  }
  if (missing) {
    std::lock_guard guard(config_mutex);
    delete config;
    config = new int(++made);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(made == 1);
  delete config;
}
