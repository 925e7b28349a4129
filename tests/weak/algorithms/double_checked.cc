// Double-checked locking. Weakened: the first look does not acquire.
#include <mutex>

#include "order.h"

struct Service {
  std::atomic<int> port{0};
};
Service service;
std::atomic<Service*> instance{nullptr};
std::mutex mutex;

void use() {
  Service* seen = instance.load(ORDER(acquire, relaxed));
  if (seen == nullptr) {
    std::lock_guard<std::mutex> guard(mutex);
    seen = instance.load(relaxed);
    if (seen == nullptr) {
      service.port.store(80, relaxed);
      seen = &service;
      instance.store(seen, release);
    }
  }
  assert(seen->port.load(relaxed) == 80);
}

int main() { run_both(use, use); }
