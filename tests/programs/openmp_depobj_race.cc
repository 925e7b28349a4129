// OpenMP: dependences kept in objects, of different places.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, part, key, lock_key;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : key)
#pragma omp task depend(depobj : object)
    part = 1;  // RACE(a)
#pragma omp task depend(in : lock_key)
    total = part;  // RACE(a)
#pragma omp taskwait
#pragma omp depobj(object) destroy
  }
  printf("%d\n", total >= 0);
}
