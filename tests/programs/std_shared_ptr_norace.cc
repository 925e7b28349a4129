// The last owner of a shared object destroys it, whoever that is.
#include <memory>
#include <thread>

struct Object {
  int value = 0;
  ~Object() { value = -1; }
};

int main() {
  auto object = std::make_shared<Object>();
  std::thread other([copy = object]() mutable { copy.reset(); });
  object.reset();
  other.join();
}
