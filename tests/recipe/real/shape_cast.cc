// The shape that is selected, behind a pointer to its base. What is drawn depends on what it is.
//
// In a serial run a square is selected when the second thread draws.
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};

struct Square final : Shape {
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
  int side;
};

struct Circle final : Shape {
  explicit Circle(int r) : radius(r) {}
  int area() const override { return 3 * radius * radius; }
  int radius;
};

class Canvas {
 public:
  void select(std::shared_ptr<Shape> shape) {
    std::lock_guard<std::mutex> guard(mutex_);
    selected_ = std::move(shape);
  }
  std::shared_ptr<Shape> selected() {
    std::lock_guard<std::mutex> guard(mutex_);
    return selected_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Shape> selected_ = std::make_shared<Circle>(2);
};

int curved = 0;
std::mutex drawing;
int ink = 0;

void draw(Canvas& canvas) {
  const std::shared_ptr<Shape> shape = canvas.selected();
  if (dynamic_cast<const Circle*>(shape.get()) != nullptr) {
    ++curved;  // RACE(curved)
  }
  std::lock_guard<std::mutex> guard(drawing);
  ink += shape->area();
}

}  // namespace

int main() {
  Canvas canvas;
  int seen = 0;
  std::thread user([&] {
    canvas.select(std::make_shared<Square>(4));
    seen = curved;  // RACE(curved)
  });
  std::thread painter([&] { draw(canvas); });
  user.join();
  painter.join();
  std::cout << (ink > 0) << ' ' << seen << '\n';
}
