// A const function keeps its result, and says that it has it before it does.
//
// FAILS: assertion: an area of 0
// PREEMPTIONS: 1, of the thread that computes, between the mark and the result
#include <cassert>
#include <thread>

class Shape {
 public:
  explicit Shape(int side) : side_(side) {}
  int area() const {
    if (!known_) {
      known_ = true;
      area_ = compute();
    }
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
  mutable volatile bool known_ = false;
  mutable volatile int area_ = 0;
};

const Shape shape(5);

void measure() { assert(shape.area() == 25); }

int main() {
  std::thread one(measure);
  std::thread two(measure);
  one.join();
  two.join();
}
