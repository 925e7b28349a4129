// The end of a stop callback waits until it has been called, so what comes behind is ordered.
#include <stop_token>
#include <thread>

#include "harness.h"

int value;

int main() {
  {
    std::jthread thread([](std::stop_token token) {
      {
        std::stop_callback callback(token, [] { value = 1; });
        reach(1);
        while (!token.stop_requested()) sched_yield();
      }
      value += 2;
    });
    await(1);
    thread.request_stop();
  }
  return value == 3 ? 0 : 1;
}
