// An object is destroyed after the other thread has made its virtual call on it.
#include <new>

#include "harness.h"

struct Base {
  virtual int call() { return 1; }
  virtual ~Base() { await(1); }
};

struct Derived : Base {
  int call() override { return 2; }
};

alignas(Derived) char storage[sizeof(Derived)];
Base* object;
int result;

static void caller() {
  result = object->call();
  reach(1);
}

int main() {
  object = new (storage) Derived;
  pthread_t thread = start(caller);
  join(thread);
  object->~Base();
}
