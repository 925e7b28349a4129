// One step takes a user off and tells how many there were.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> users{2};
std::atomic<int> freed{0};

struct Buffer {
  char bytes[64] = {};
};

void release(Buffer* buffer) {
  if (users.fetch_sub(1) == 1) {
    assert(freed.fetch_add(1) == 0);
    delete buffer;
  }
}

int main() {
  auto* buffer = new Buffer;
  std::thread one(release, buffer);
  std::thread two(release, buffer);
  one.join();
  two.join();
}
