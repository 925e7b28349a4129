// OpenMP: what is written behind the event of a detached task.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
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
      total = part;  // RACE(a)
    } else {
      await(1);
      omp_fulfill_event((omp_event_handle_t)__atomic_load_n(&event, __ATOMIC_RELAXED));
      part = 1;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
