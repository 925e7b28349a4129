// The pointer is atomic, what it points to is not.
// TSAN: skip, it takes the library at its word
// NEEDS: gcc>=12
#include <atomic>
#include <memory>

#include "harness.h"

std::atomic<std::shared_ptr<int>> current{std::make_shared<int>(0)};

// Kept: giving it back would order what came before.
static void change() {
  auto* kept = new std::shared_ptr<int>(current.load());
  **kept = 1;  // RACE(a)
}

int main() { run_threads(change, change); }
