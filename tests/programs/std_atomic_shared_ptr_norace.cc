// A snapshot that one thread replaces while another reads it. What libstdc++ does inside of std::atomic<std::shared_ptr>
// is ordered by relaxed operations only, which is its own business.
// TSAN: skip, it takes the library at its word
// NEEDS: gcc>=12
#include <atomic>
#include <memory>

#include "harness.h"

std::atomic<std::shared_ptr<const int>> current{std::make_shared<const int>(0)};
int sum;

static void replace() {
  for (int i = 1; i < 4; ++i) current.store(std::make_shared<const int>(i));
}

static void read() {
  for (int i = 0; i < 4; ++i) sum += *current.load();
}

int main() { run_threads(replace, read); }
