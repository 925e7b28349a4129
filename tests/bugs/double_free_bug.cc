// The count of users is atomic, but "one less" and "none left?" are two steps: both threads may find none left.
//
// FAILS: assertion: the buffer was freed twice, or a complaint of the allocator
// PREEMPTIONS: 1, of one thread between the two steps
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> users{2};
std::atomic<int> freed{0};

struct Buffer {
  char bytes[64] = {};
};

void release(Buffer* buffer) {
  users.fetch_sub(1);
  if (users.load() == 0) {
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
