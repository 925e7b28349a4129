// Ticket lock. Weakened: whose turn it is does not acquire what the one before did.
#include "order.h"

std::atomic<unsigned> next_ticket{0}, now_serving{0};
std::atomic<int> counter{0};

void count() {
  for (int i = 0; i < 2; ++i) {
    const unsigned mine = next_ticket.fetch_add(1, relaxed);
    while (now_serving.load(ORDER(acquire, relaxed)) != mine) {
    }
    counter.store(counter.load(relaxed) + 1, relaxed);
    now_serving.store(mine + 1, release);
  }
}

int main() {
  run_both(count, count);
  assert(counter.load() == 4);
}
