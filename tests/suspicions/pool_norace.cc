// Buffers go round: whoever takes one out of the pool has it alone.
#include <mutex>
#include <thread>
#include <vector>

struct Buffer {
  char bytes[64];
  int used;
};

std::mutex mutex;
std::vector<Buffer*> pool;

Buffer* take() {
  std::lock_guard lock(mutex);
  if (pool.empty()) {
    return new Buffer();
  }
  Buffer* buffer = pool.back();
  pool.pop_back();
  return buffer;
}

void give(Buffer* buffer) {
  std::lock_guard lock(mutex);
  pool.push_back(buffer);
}

void work(int number) {
  for (int i = 0; i < 3; ++i) {
    Buffer* buffer = take();
    buffer->used = number;
    buffer->bytes[buffer->used] = 'x';
    give(buffer);
  }
}

int main() {
  std::thread one(work, 1), two(work, 2), three(work, 3);
  one.join();
  two.join();
  three.join();
  for (Buffer* buffer : pool) {
    delete buffer;
  }
}
