// Figure 6 of RECIPE: a bounded buffer looks at its fill level without the lock that changes it. The numbers are those of the paper. In the recorded run a number is
// put in first, then the level is looked at twice. With one number less there is still room, so the second look may come before.
//
// FOUND(e291_e400): mcm recipe:s recipe
// FOUND(e294_e400): recipe:s recipe
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int kCapacity = 4;
std::mutex mutex;
int level = 1;

void put() {
  std::lock_guard<std::mutex> guard(mutex);
  level++;  // 400 RACE(e291_e400) RACE(e294_e400)
}

void look() {
  if (level < kCapacity) {                          // 291 RACE(e291_e400)
    std::printf("room for %d\n", kCapacity - level);  // 294 RACE(e294_e400)
  }
}

}  // namespace

int main() {
  std::thread putting(put), looking(look);
  putting.join();
  looking.join();
}
