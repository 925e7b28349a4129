// OpenMP: ... its own copy.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int shared_value = 1, total[2];
static int own = 1;
#pragma omp threadprivate(own)

int main() {
#pragma omp parallel num_threads(2) copyin(own)
  {
    own += shared_value;
    total[omp_get_thread_num()] = own;
  }
  printf("%d\n", total[0] == 2 && total[1] == 2);
}
