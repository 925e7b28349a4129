// OpenMP: all threads begin with the first one's value, and one changes where it came from.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int shared_value = 1, total[2];
static int own = 1;
#pragma omp threadprivate(own)

int main() {
#pragma omp parallel num_threads(2) copyin(own)
  {
    own += shared_value;  // RACE(a)
    if (omp_get_thread_num() == 1) shared_value = own;  // RACE(a)
  }
  printf("%d\n", own > 0);
}
