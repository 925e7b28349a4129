// What a stop callback does, in the thread that requests the stop, and what the stopped thread does meanwhile.
#include <stop_token>
#include <thread>

#include "harness.h"

int value;

int main() {
  std::jthread thread([](std::stop_token token) {
    std::stop_callback callback(token, [] {
      value = 1;  // RACE(a)
    });
    reach(1);
    await(2);
    value = 2;  // RACE(a)
  });
  await(1);
  thread.request_stop();
  reach(2);
}
