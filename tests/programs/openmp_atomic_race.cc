// OpenMP: one thread is atomic, the other is not.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      _Pragma("omp atomic") total += 1;  // RACE(a)
      reach(1);
    } else {
      await(1);
      total = 5;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
