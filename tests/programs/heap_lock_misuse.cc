// An object with a mutex is deleted while nothing keeps another thread from still using the mutex.
// TSAN: skip, it does not tell this as misuse
#include <mutex>

#include "harness.h"

struct Object {
  std::mutex mutex;
  int value = 0;
};

Object* object;

static void user() {
  object->mutex.lock();
  object->mutex.unlock();
  reach(1);
}

int main() {
  object = new Object;
  pthread_t thread = start(user);
  await(1);
  delete object;  // MISUSE(destroy)
  join(thread);
}
