// OpenMP: a taskloop with a reduction, and another thread beside it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, sum;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp taskloop num_tasks(4) reduction(+ : sum)
      for (unsigned long long i = 0; i < 40; ++i) {
        sum += 1;
        if (i == 7) total = 1;  // RACE(a)
      }
    } else {
      total = 5;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
