// An airline sells the seats of one flight through several agents. Each agent looks whether there is a seat left, and
// only then takes the lock and sells one: in between, another agent may have sold the last. The flight is oversold.
//
// FOUND(check): hb wcp     the look without the lock, and the sale of another agent
//
// No race: `revenue` is always written under the lock; main reads both after the agents have gone home.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kSeats = 12;
constexpr int kAgents = 3;

std::mutex desk;
int sold = 0;
int revenue = 0;

bool seat_left() {
  return sold < kSeats;  // RACE(check)
}

void sell(int price) {
  std::lock_guard<std::mutex> guard(desk);
  sold = sold + 1;  // RACE(check)
  revenue += price;
}

void agent(int price) {
  while (seat_left()) {
    sell(price);
    std::this_thread::yield();
  }
}

}  // namespace

int main() {
  std::vector<std::thread> agents;
  for (int i = 0; i < kAgents; ++i) {
    agents.emplace_back(agent, 100 + i);
  }
  for (std::thread& thread : agents) {
    thread.join();
  }
  std::printf("%d of %d seats sold%s\n", sold, kSeats, sold > kSeats ? ": oversold!" : "");
  return revenue >= 100 * kSeats ? 0 : 1;
}
