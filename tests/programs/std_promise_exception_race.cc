// An exception is handed over before the rest is written.
#include <exception>
#include <future>
#include <stdexcept>

#include "harness.h"

std::promise<void>* promise;
int detail;

static void failing() {
  promise->set_exception(std::make_exception_ptr(std::runtime_error("no")));
  detail = 1;  // RACE(a)
}

int main() {
  std::promise<void> made;
  promise = &made;
  std::future<void> future = made.get_future();
  pthread_t thread = start(failing);
  try {
    future.get();
  } catch (const std::runtime_error&) {
    detail = 2;  // RACE(a)
  }
  join(thread);
}
