// A stop callback runs in the thread that asks to stop, beside the thread that it belongs to.
#include <stop_token>
#include <thread>

#include "harness.h"

int value;

int main() {
  std::stop_source source;
  std::stop_callback callback(source.get_token(), [] {
    value = 1;  // RACE(a)
    reach(1);
  });
  std::thread asks([&source] { source.request_stop(); });
  await(1);
  value = 2;  // RACE(a)
  asks.join();
}
