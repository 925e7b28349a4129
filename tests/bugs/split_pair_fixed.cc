// Both are read in one section.
#include <cassert>
#include <mutex>
#include <thread>

class Window {
 public:
  void resize(int width, int height) {
    std::lock_guard lock(mutex_);
    width_ = width;
    height_ = height;
    area_ = width * height;
  }
  int width() {
    std::lock_guard lock(mutex_);
    return width_;
  }
  int area_of(int width) {
    std::lock_guard lock(mutex_);
    return area_ / width * (width == width_ ? 1 : -1);
  }
  int height() {
    std::lock_guard lock(mutex_);
    return area_ / width_;
  }

 private:
  std::mutex mutex_;
  int width_ = 4, height_ = 3, area_ = 12;
};

Window window;

void draw() { assert(window.height() > 0); }

int main() {
  std::thread painter(draw);
  std::thread user([] { window.resize(6, 5); });
  painter.join();
  user.join();
}
