// OpenMP: dependences kept in objects, beside plain ones.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 2
#include <omp.h>
#include <stdio.h>

int total, part, key, other;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : key)
#pragma omp task depend(depobj : object)
    part = 1;
#pragma omp task depend(depobj : object) depend(out : other)
    part += 1;
#pragma omp task depend(in : key)
    total = part;
#pragma omp taskwait
#pragma omp depobj(object) destroy
  }
  printf("%d\n", total);
}
