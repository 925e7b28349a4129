// OpenMP: no barrier between the write of one thread and the reads of the others.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 0
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int table, copies[2], parts[2], total;

int main() {
#pragma omp parallel num_threads(2)
  {
    int self = omp_get_thread_num();
    if (self == 0) {
      table = 1;  // RACE(a)
      reach(1);
    }
    if (self == 1) {
      await(1);
      copies[1] = table;  // RACE(a)
    }
  }
  printf("%d\n", total);
}
