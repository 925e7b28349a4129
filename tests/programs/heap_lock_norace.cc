// Objects with mutexes are deleted when nobody can use them any more: behind a join, or by the last of their owners.
#include <mutex>

#include "harness.h"

struct Object {
  std::mutex mutex;
  int owners = 2;
};

Object* object;

static void leaves() {
  object->mutex.lock();
  bool last = --object->owners == 0;
  object->mutex.unlock();
  if (last) delete object;
}

int main() {
  for (int i = 0; i < 3; ++i) {
    object = new Object;
    run_threads(leaves, leaves);
    object = new Object;
    join(start([] {
      object->mutex.lock();
      object->mutex.unlock();
    }));
    delete object;
  }
}
