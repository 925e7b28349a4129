// OpenMP: teams count without a lock, in a league of the host and in one of a target region.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
#include <stdio.h>

int hosts, targets;

int main() {
#pragma omp teams num_teams(2)
  {
    hosts += 1;  // RACE(a)
  }
#pragma omp target teams distribute num_teams(2) map(tofrom : targets)
  for (int i = 0; i < 4; ++i) targets += i;  // RACE(b)
  printf("%d\n", hosts > 0 && targets > 0);
}
