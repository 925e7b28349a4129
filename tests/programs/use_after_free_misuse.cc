// Memory is used behind its free, by the thread that freed it.
// TSAN: skip, it does not tell this as misuse
#include <stdlib.h>

volatile int copy;

int main() {
  volatile int* block = static_cast<int*>(malloc(40));
  block[2] = 1;
  free(const_cast<int*>(block));
  copy = block[2];  // MISUSE(use-after-free)
  block[3] = 2;  // MISUSE(use-after-free)
}
