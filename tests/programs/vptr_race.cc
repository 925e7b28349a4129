// An object is destroyed while another thread makes a virtual call on it: the destructor of the base sets the
// virtual pointer.
#include <new>

#include "harness.h"

struct Base {
  virtual int call() { return 1; }
  virtual ~Base() { await(1); }  // RACE(a)
};

struct Derived : Base {
  int call() override { return 2; }
};

alignas(Derived) char storage[sizeof(Derived)];
Base* object;
int result;

static void caller() {
  result = object->call();  // RACE(a)
  reach(1);
}

int main() {
  object = new (storage) Derived;
  pthread_t thread = start(caller);
  object->~Base();
  join(thread);
}
