// A monster attacks when the player is near. Positions have a lock, the health of the player has none.
//
// In a serial run the player has run away before the monster looks.
#include <cmath>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

struct Point {
  double x = 0, y = 0;
};

double distance(const Point& a, const Point& b) { return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)); }

class World {
 public:
  void move_player(double dx, double dy) {
    std::lock_guard<std::mutex> guard(mutex_);
    player_.x += dx;
    player_.y += dy;
  }
  Point player() {
    std::lock_guard<std::mutex> guard(mutex_);
    return player_;
  }

 private:
  std::mutex mutex_;
  Point player_{1, 1};
};

int health = 10;

void monster(World& world, Point at) {
  for (int turn = 0; turn < 2; ++turn) {
    const double far = distance(world.player(), at);
    if (far < 2.5) {
      health -= 3;  // RACE(health)
    } else {
      at.x += 0.5;
    }
  }
}

}  // namespace

int main() {
  World world;
  int seen = 0;
  std::thread player([&] {
    for (int i = 0; i < 4; ++i) {
      world.move_player(2.0, 1.0);
    }
    seen = health;  // RACE(health)
  });
  std::thread enemy([&] { monster(world, {0, 0}); });
  player.join();
  enemy.join();
  std::cout << "health " << seen << '\n';
}
