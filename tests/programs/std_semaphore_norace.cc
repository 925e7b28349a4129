// A C++20 semaphore of value one protects like a lock, and one of value zero passes a message.
#include <semaphore>

#include "harness.h"

std::binary_semaphore semaphore(1);
std::counting_semaphore<4> passed(0);
int value, message;

static void first() {
  semaphore.acquire();
  value = 1;
  semaphore.release();
  message = 1;
  passed.release(2);
}

static void second() {
  semaphore.acquire();
  value = 2;
  semaphore.release();
  passed.acquire();
  message = 2;
}

int main() {
  run_threads(first, second);
}
