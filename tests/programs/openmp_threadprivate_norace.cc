// OpenMP: tasks that one thread runs share what the thread has for itself, and its stack.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 13
#include <omp.h>
#include <stdio.h>

static int own;
#pragma omp threadprivate(own)
int total;

static int fibonacci(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task
      {
        volatile int local[4] = {i, i, i, i};
        own += local[i % 4];
      }
    }
    total = fibonacci(7);
  }
  printf("%d\n", total);
}
