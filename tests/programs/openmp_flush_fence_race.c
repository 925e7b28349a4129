// OpenMP: an atomic flag that neither releases nor acquires, with a flush on one side only.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value, flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      value = 1;  // RACE(a)
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    } else {
      int seen = 0;
      while (seen == 0) {
#pragma omp atomic read
        seen = flag;
      }
      copy = value;  // RACE(a)
    }
  }
  printf("%d\n", copy);
}
