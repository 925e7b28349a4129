// OpenMP: a target region that nobody waits for, and what comes behind it; a task that names another place.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <stdio.h>

int part, other, third;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait map(tofrom : part)
    part = 1;  // RACE(a)
    part += 1;  // RACE(a)
#pragma omp target nowait map(tofrom : other) depend(out : other)
    other = 1;  // RACE(b)
#pragma omp task depend(out : third)
    other += 1;  // RACE(b)
#pragma omp taskwait
  }
  printf("%d\n", part + other > 0);
}
