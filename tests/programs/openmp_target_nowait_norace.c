// OpenMP: a target region that nobody waits for is a task: its dependences order it, and taskwait waits for it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 6
#include <stdio.h>

int part, other;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait map(tofrom : part) depend(out : part)
    part = 1;
#pragma omp target nowait map(tofrom : part) depend(inout : part)
    part += 1;
#pragma omp task depend(inout : part)
    part += 1;
#pragma omp target map(tofrom : part) depend(inout : part)
    part += 1;
#pragma omp target nowait map(tofrom : other)
    other = 1;
#pragma omp taskwait
    part += other;
  }
#pragma omp target nowait map(tofrom : part)
  part += 1;
#pragma omp taskwait
  printf("%d\n", part);
}
