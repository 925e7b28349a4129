// A stop request does not wait for the thread.
#include <stop_token>
#include <thread>

#include "harness.h"

int value, called;

int main() {
  {
    std::jthread thread([](std::stop_token token) {
      while (!token.stop_requested()) {
        sched_yield();
      }
      value = 1;  // RACE(a)
      reach(1);
    });
    std::stop_callback callback(thread.get_stop_token(), [] { called = 1; });
    thread.request_stop();
    await(1);
    value = 2;  // RACE(a)
  }
}
