// Two players and a ball: whose turn it is goes through a lock and a condition. The referee counts hits; each player
// tells the referee about a hit after passing the ball on, without the lock.
//
// FOUND(hits): hb wcp     both players count at the same time
//
// No race: `turn` under the lock, and `rallies`, which only the one whose turn it is touches.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int kRallies = 20;
std::mutex table;
std::condition_variable ball;
int turn = 0;
int rallies = 0;
int hits = 0;

void player(int self) {
  for (int i = 0; i < kRallies; ++i) {
    {
      std::unique_lock<std::mutex> lock(table);
      ball.wait(lock, [self] { return turn == self; });
      ++rallies;
      turn = 1 - self;
      ball.notify_all();
    }
    hits = hits + 1;  // RACE(hits)
  }
}

}  // namespace

int main() {
  std::thread ping(player, 0), pong(player, 1);
  ping.join();
  pong.join();
  std::printf("%d rallies, %s hits counted\n", rallies, hits <= rallies ? "no more" : "more");
}
