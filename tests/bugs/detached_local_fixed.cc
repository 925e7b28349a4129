// The worker has a share in the request.
#include <cassert>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

struct Request {
  volatile int id = 7;
  ~Request() { id = 0; }
};

std::binary_semaphore begun{0};
std::binary_semaphore ended{0};

void handle(std::shared_ptr<Request> request) {
  begun.release();
  assert(request->id == 7);
  ended.release();
}

void start() {
  auto request = std::make_shared<Request>();
  std::thread(handle, std::move(request)).detach();
  begun.acquire();
}

int main() {
  start();
  ended.acquire();
}
