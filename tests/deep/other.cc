// The second object file of the deep test program.
#include <stdexcept>

#include "features.h"

namespace {

struct Square final : Shape {
  explicit Square(int s) : side(s) {}
  int area(int scale) const override { return side * side * scale; }
  int side;
};
struct Circle final : Shape {
  explicit Circle(int r) : radius(r) {}
  ~Circle() override { radius = 0; }
  int area(int scale) const override { return 3 * radius * radius * scale; }
  int radius;
};

struct Guard {
  explicit Guard(int& counter) : count(counter) { ++count; }
  ~Guard() { --count; }
  int& count;
};
int guards = 0;

}  // namespace

Shape* make_square(int side) { return new Square(side); }
Shape* make_circle(int radius) { return new Circle(radius); }

Small twice(Small small) { return {small.a * 2, small.b * 2}; }

Big shifted(Big big, int by) {
  for (long& word : big.words) word += by;
  return big;
}

int sum_of(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = inlined(count);
  for (int i = 0; i < count; ++i) sum += i % 2 == 0 ? va_arg(list, int) : static_cast<int>(va_arg(list, double));
  va_end(list);
  return sum;
}

long double halves(long double x) { return x / 2; }

void fail_at(int depth) {
  Guard guard(guards);
  if (depth == 0) throw std::out_of_range("depth " + std::to_string(guards));
  fail_at(depth - 1);
}
