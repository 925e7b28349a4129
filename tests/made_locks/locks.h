// Two threads, one after the other in a serial recording, and the locks that they made.
#pragma once

#include <pthread.h>
#include <sched.h>

// The first is created first, so that it comes first in a serial recording. Both are joined.
inline void run_threads(void* (*first)(void*), void* (*second)(void*)) {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, first, nullptr);
  pthread_create(&threads[1], nullptr, second, nullptr);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
}
