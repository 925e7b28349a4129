// OpenMP: the iterations of a parallel loop write one variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4950
#include <stdio.h>

int numbers[100], last, count;

// A function of its own, so that the compiler does not move the write out of the loop.
__attribute__((noinline)) static void note(int number) {
  last = number;  // RACE(a)
}

int main() {
  int sum = 0;
#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) {
    numbers[i] = i;
    note(i);
    sum += numbers[i];
  }
  printf("%d\n", sum);
}
