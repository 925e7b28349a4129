// OpenMP: ... all add to their copies.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

struct Sum {
  int value = 0;
};
#pragma omp declare reduction(add : Sum : omp_out.value += omp_in.value)
Sum sum;
int other;

int main() {
#pragma omp parallel for num_threads(2) reduction(add : sum)
  for (int i = 0; i < 10; ++i) sum.value += 1;
  printf("%d\n", sum.value == 10);
}
