// OpenMP: the lower half of a matrix is made from the upper.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int matrix[12][12];

int main() {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < i; ++j) matrix[i][j] = matrix[j][i] + 1;
  printf("%d\n", matrix[11][0]);
}
