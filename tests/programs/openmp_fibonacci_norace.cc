// OpenMP: a task for each call, and a taskwait for both.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 5
#include <omp.h>
#include <stdio.h>

static int fibonacci(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

int main() {
  int result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  result = fibonacci(5);
  printf("%d\n", result);
}
