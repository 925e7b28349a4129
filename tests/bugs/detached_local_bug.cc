// A detached worker uses a request that lives in the frame of the function that started it, which waits only until the
// worker has begun.
//
// FAILS: assertion: the request is dead
// PREEMPTIONS: 1, of the worker after it has said that it began
#include <cassert>
#include <semaphore>
#include <thread>

struct Request {
  volatile int id = 7;
  ~Request() { id = 0; }
};

std::binary_semaphore begun{0};
std::binary_semaphore ended{0};

void handle(const Request* request) {
  begun.release();
  assert(request->id == 7);
  ended.release();
}

void start() {
  Request request;
  std::thread(handle, &request).detach();
  begun.acquire();
}

int main() {
  start();
  ended.acquire();
}
