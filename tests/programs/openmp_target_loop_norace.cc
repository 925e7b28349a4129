// OpenMP: a loop that the threads of a team share in a target region, and two such loops one after the other.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=14
// OUTPUT: 100
#include <stdio.h>

int value[100], sum;

int main() {
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(4) num_threads(4) map(tofrom : value)
  for (int i = 0; i < 100; ++i) value[i] = i;
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(4) num_threads(4) map(tofrom : value, sum) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += value[99 - i] > i ? 2 : 0;
  printf("%d\n", sum);
}
