// OpenMP: an atomic number, and a plain read of it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int next, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      int mine;
      _Pragma("omp atomic capture") mine = next++;  // RACE(a)
      copy[0] = mine;
    } else {
      copy[1] = next;  // RACE(a)
    }
  }
  printf("%d\n", copy[1] >= 0);
}
