// OpenMP: barrier, single and tasks with taskwait.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 14
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int table, copies[2], parts[2], total;

int main() {
#pragma omp parallel num_threads(2)
  {
    int self = omp_get_thread_num();
    if (self == 0) {
      table = 1;
    }
#pragma omp barrier
    copies[self] = table;
#pragma omp single
    {
#pragma omp task
      parts[0] = 5;
#pragma omp task
      parts[1] = 7;
#pragma omp taskwait
      total = parts[0] + parts[1];
    }
    copies[self] += total - 12;
  }
  printf("%d\n", total + copies[0] + copies[1]);
}
