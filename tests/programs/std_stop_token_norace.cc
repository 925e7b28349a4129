// A stop callback runs before request_stop returns.
#include <stop_token>
#include <thread>

#include "harness.h"

int value;

int main() {
  std::stop_source source;
  std::stop_callback callback(source.get_token(), [] {
    value = 1;
    reach(1);
  });
  std::thread asks([&source] { source.request_stop(); });
  asks.join();
  value = 2;
}
