// OpenMP: a scan of two threads.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 64
#include <omp.h>
#include <stdio.h>

int value[64], prefix[64];

int main() {
  int sum = 0;
  for (int i = 0; i < 64; ++i) value[i] = 1;
#pragma omp parallel for num_threads(2) reduction(inscan, + : sum)
  for (int i = 0; i < 64; ++i) {
    sum += value[i];
#pragma omp scan inclusive(sum)
    prefix[i] = sum;
  }
  printf("%d\n", prefix[63]);
}
