// OpenMP: ... behind the loop.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int last, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) lastprivate(last)
    for (int i = 0; i < 10; ++i) last = i;
    copy[omp_get_thread_num()] = last;
  }
  printf("%d\n", copy[0] == 9);
}
