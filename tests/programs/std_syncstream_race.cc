// One thread writes into a stream by way of std::osyncstream, the other without.
// TSAN: some, it does not see what all of these functions touch
#include <sstream>
#include <syncstream>

#include "harness.h"

std::ostringstream text;

static void worker() {
  std::osyncstream(text) << "one";  // RACE(a)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  text << "two";  // RACE(a)
  join(thread);
}
