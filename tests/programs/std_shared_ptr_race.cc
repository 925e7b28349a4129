// The object behind two shared pointers is written by both owners.
#include <memory>
#include <thread>

struct Object {
  int value = 0;
  ~Object() { value = -1; }
};

int main() {
  auto object = std::make_shared<Object>();
  std::thread other([copy = object]() mutable {
    copy->value = 1;  // RACE(a)
    copy.reset();
  });
  object->value = 2;  // RACE(a)
  other.join();
  object.reset();
}
