// OpenMP: ... and what the last of them names.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total, part, key[21];

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : key[19])
    part = 1;
#pragma omp task depend(in : key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7], key[8], key[9], key[10], key[11], key[12], key[13], key[14], key[15], key[16], key[17], key[18], key[19])
    total = part;
  }
  printf("%d\n", total);
}
