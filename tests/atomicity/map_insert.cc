// Whether a key is there is asked in one section, and the key put there in another.
#include <cassert>
#include <map>
#include <mutex>
#include <thread>

std::mutex map_mutex;
std::map<int, int> owners;

bool has(int key) {
  std::lock_guard guard(map_mutex);
  return owners.count(key) != 0;
}

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(map_mutex);
  if (owners.count(7) == 0) {
    const bool added = owners.emplace(7, me).second;
    assert(added);
  }
}
#else
void work(int me) {
  if (!has(7)) {
    std::lock_guard guard(map_mutex);
    const bool added = owners.emplace(7, me).second;
    assert(added);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(has(7));
}
