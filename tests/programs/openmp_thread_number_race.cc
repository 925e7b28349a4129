// OpenMP: threads share elements out by their number, and one too many.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int value[100];

int main() {
#pragma omp parallel num_threads(2)
  {
    int half = omp_get_thread_num() * 50;
    for (int i = half; i < half + 50 + 1; ++i) value[i % 100] += i;  // RACE(a)
  }
  printf("%d\n", value[99] > 0);
}
