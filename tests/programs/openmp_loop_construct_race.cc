// OpenMP: the iterations of a loop construct add to one variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=19
#include <omp.h>
#include <stdio.h>

int value[100], sum;

// A function of its own, so that the compiler does not move the sum out of the loop.
__attribute__((noinline)) static void add(int number) {
  sum += number;  // RACE(a)
}

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp loop bind(parallel)
    for (int i = 0; i < 100; ++i) {
      value[i] = 1;
      add(value[i]);
    }
  }
  printf("%d\n", sum > 0);
}
