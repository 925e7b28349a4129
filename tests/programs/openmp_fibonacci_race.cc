// OpenMP: a task for each call, a taskwait for both, and a count of all calls.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int calls;

static int fibonacci(int n) {
  ++calls;  // RACE(a)
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
  printf("%d\n", result + calls > 5);
}
