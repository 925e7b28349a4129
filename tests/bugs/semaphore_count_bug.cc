// A pool of two buffers behind a semaphore that starts with three: the third user gets a buffer that is in use.
//
// FAILS: assertion: there was no free buffer
// PREEMPTIONS: 2, of two users while they have their buffers
#include <array>
#include <cassert>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

constexpr int kBuffers = 2;
std::counting_semaphore<8> available{kBuffers + 1};
std::mutex mutex;
std::array<bool, kBuffers> used;

int take() {
  std::lock_guard lock(mutex);
  for (int i = 0; i < kBuffers; ++i) {
    if (!used[i]) {
      used[i] = true;
      return i;
    }
  }
  return -1;
}

void give_back(int buffer) {
  std::lock_guard lock(mutex);
  used[buffer] = false;
}

void transform() {
  available.acquire();
  const int buffer = take();
  assert(buffer >= 0);
  give_back(buffer);
  available.release();
}

int main() {
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back(transform);
  }
  for (auto& user : users) {
    user.join();
  }
}
