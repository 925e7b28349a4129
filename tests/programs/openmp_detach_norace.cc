// OpenMP: a detached task is done when its event is fulfilled.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

#include "harness.h"

unsigned long event;
int total, part;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      omp_event_handle_t own;
#pragma omp task detach(own)
      {
        __atomic_store_n(&event, (unsigned long)own, __ATOMIC_RELAXED);
        reach(1);
      }
#pragma omp taskwait
      total = part;
    } else {
      await(1);
      part = 1;
      omp_fulfill_event((omp_event_handle_t)__atomic_load_n(&event, __ATOMIC_RELAXED));
    }
  }
  printf("%d\n", total);
}
