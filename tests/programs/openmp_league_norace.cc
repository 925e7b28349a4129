// OpenMP: teams have private variables and places of their own, and what is behind a league is ordered behind all of them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// OUTPUT: 2 8 6 15
#include <omp.h>
#include <stdio.h>

int counted[2], totals[8], threads;

static int twice(const volatile int* value) { return *value * 2; }

int main() {
  int factor = 3;
#pragma omp teams num_teams(2) firstprivate(factor)
  {
    int mine = 1;
    factor = twice(&factor);
    counted[omp_get_team_num()] = mine + factor - 6;
#pragma omp parallel num_threads(2)
#pragma omp atomic
    threads += twice(&mine);
  }
  int sum = counted[0] + counted[1];
#pragma omp target teams distribute num_teams(2) firstprivate(factor) map(tofrom : totals)
  for (int i = 0; i < 8; ++i) {
    int part = i;
    totals[i] = twice(&part) + factor - 3;
  }
  int last = 0;
#pragma omp target teams num_teams(3) map(tofrom : last) reduction(+ : last)
  last += 2;
  printf("%d %d %d %d\n", sum, threads, last, totals[7] + 1);
}
