// Two threads write into one stream by way of std::osyncstream.
// OUTPUT: 6
#include <cstdio>
#include <sstream>
#include <syncstream>

#include "harness.h"

std::ostringstream text;

static void worker() { std::osyncstream(text) << "one"; }

int main() {
  run_threads(worker, worker);
  std::printf("%zu\n", text.str().size());
}
