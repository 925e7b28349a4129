// The first caller computes, the others wait for it.
#include <cassert>
#include <mutex>
#include <thread>

class Shape {
 public:
  explicit Shape(int side) : side_(side) {}
  int area() const {
    std::call_once(once_, [this] { area_ = compute(); });
    return area_;
  }

 private:
  int compute() const {
    int sum = 0;
    for (int row = 0; row < side_; ++row) {
      sum += side_;
    }
    return sum;
  }
  int side_;
  mutable std::once_flag once_;
  mutable int area_ = 0;
};

const Shape shape(5);

void measure() { assert(shape.area() == 25); }

int main() {
  std::thread one(measure);
  std::thread two(measure);
  one.join();
  two.join();
}
