// Two threads write into one stream of strings under a lock, and into std::cerr, which may be shared.
// OUTPUT: 4
#include <iostream>
#include <mutex>
#include <sstream>

#include "harness.h"

std::mutex mutex;
std::ostringstream text;

static void worker() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    text << 1 << "" << std::string() << std::flush;
    text.put('x');
  }
  std::cerr << 1.5 << 2 << ' ' << true << "text" << std::string("string") << std::endl;
}

int main() {
  run_threads(worker, worker);
  std::istringstream in(text.str());
  int first = 0;
  in >> first;
  std::cout << text.str().size() / first << std::endl;
}
