// OpenMP: a schedule that is chosen while the program runs, and a sum of all threads.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int sum, value[100];

// A function of its own, so that the compiler does not move the sum out of the loop.
__attribute__((noinline)) static void add(int number) {
  sum += number;  // RACE(a)
}

int main() {
  omp_set_schedule(omp_sched_static, 5);
#pragma omp parallel for num_threads(2) schedule(runtime)
  for (int i = 0; i < 100; ++i) {
    value[i] = i;
    add(value[i]);
  }
  printf("%d\n", sum > 0);
}
