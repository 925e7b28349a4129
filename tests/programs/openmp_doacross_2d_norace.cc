// OpenMP: two dimensions: each waits for the row above and the left neighbour.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 251
#include <omp.h>
#include <stdio.h>

int grid[6][6];

int main() {
#pragma omp parallel for ordered(2) num_threads(2) schedule(static, 1)
  for (int i = 1; i < 6; ++i) {
    for (int j = 1; j < 6; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grid[i][j] = grid[i - 1][j] + grid[i][j - 1] + 1;
#pragma omp ordered depend(source)
    }
  }
  printf("%d\n", grid[5][5]);
}
