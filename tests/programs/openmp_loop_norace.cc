// OpenMP: a parallel loop with a reduction, a critical section, an atomic, and slots of their own.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4950
#include <stdio.h>

int numbers[100], last, count;

// A function of its own, so that the compiler does not move the write out of the loop.
__attribute__((noinline)) static void note(int number) {
  last = number;
}

int main() {
  int sum = 0;
#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) {
    numbers[i] = i;
#pragma omp critical
    note(i);
#pragma omp atomic
    ++count;
    sum += numbers[i];
  }
  printf("%d\n", sum);
}
