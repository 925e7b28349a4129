// Whether a name is taken is asked in one section, and it is given away in another.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

std::mutex users_mutex;
std::vector<int> names;

bool is_taken(int name) {
  std::lock_guard guard(users_mutex);
  for (const int each : names) {
    if (each == name) {
      return true;
    }
  }
  return false;
}

void give(int name) {
  std::lock_guard guard(users_mutex);
  names.push_back(name);
}

#ifdef REPAIRED
std::mutex giving;

void work(int) {
  std::lock_guard one_at_a_time(giving);
  if (!is_taken(42)) {
    give(42);
  }
}
#else
void work(int) {
  if (!is_taken(42)) {
    give(42);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(names.size() == 1);
}
