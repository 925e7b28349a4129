// OpenMP: a nest lock that is tried twice and still held at the write.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 2
#include <omp.h>
#include <sched.h>
#include <stdio.h>

omp_nest_lock_t lock;
int value;

static void add() {
  while (omp_test_nest_lock(&lock) == 0) sched_yield();
  if (omp_test_nest_lock(&lock) != 2) return;
  omp_unset_nest_lock(&lock);
  ++value;
  omp_unset_nest_lock(&lock);
}

int main() {
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  add();
  omp_destroy_nest_lock(&lock);
  printf("%d\n", value);
}
