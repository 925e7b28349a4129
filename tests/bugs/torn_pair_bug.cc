// Width and height are atomic each, but change together; a reader between the two sees a size that never was.
//
// FAILS: assertion: a size that nobody set
// PREEMPTIONS: 1, of the writer between the two stores, or of the reader between the two loads
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> width{640};
std::atomic<int> height{480};

void resize() {
  width.store(800);
  height.store(600);
}

void draw() {
  const int w = width.load();
  const int h = height.load();
  assert(w * 3 == h * 4);
}

int main() {
  std::thread window(resize);
  std::thread renderer(draw);
  window.join();
  renderer.join();
}
