// OpenMP: a loop that the threads of a team share in a target region; an iteration uses what the next one writes.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=14
#include <stdio.h>

int value[101];

int main() {
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(4) num_threads(4) map(tofrom : value)
  for (int i = 0; i < 100; ++i) value[i] = value[i + 1] + 1;  // RACE(a)
  printf("%d\n", value[0] > 0);
}
