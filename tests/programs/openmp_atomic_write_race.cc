// OpenMP: one thread writes by an atomic, the other reads without.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      _Pragma("omp atomic write") flag = 1;  // RACE(a)
    } else {
      copy = flag;  // RACE(a)
    }
  }
  printf("%d\n", copy >= 0);
}
