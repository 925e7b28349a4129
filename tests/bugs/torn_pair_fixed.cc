// The size is one atomic value.
#include <atomic>
#include <cassert>
#include <thread>

struct Size {
  int width;
  int height;
};

std::atomic<Size> size{Size{640, 480}};

void resize() { size.store(Size{800, 600}); }

void draw() {
  const Size seen = size.load();
  assert(seen.width * 3 == seen.height * 4);
}

int main() {
  std::thread window(resize);
  std::thread renderer(draw);
  window.join();
  renderer.join();
}
