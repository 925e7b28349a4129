// A stop request and the join of std::jthread's destructor.
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
      value = 1;
    });
    std::stop_callback callback(thread.get_stop_token(), [] { called = 1; });
    thread.request_stop();
  }
  value = 2;
}
