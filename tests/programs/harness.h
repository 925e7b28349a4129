// What the programs of this folder share: threads in two words, and steps that put threads in order without
// synchronising them. A relaxed atomic makes no happens-before edge, so a race that the steps force into one order is
// a race in every run, and no step hides one. Nothing from the C++ library, so that each program compiles in no time.
#pragma once

#include <pthread.h>
#include <sched.h>

inline int steps_done = 0;

// This thread has done the given step. Steps are numbered from 1. The compiler moves nothing across, the machine may.
inline void reach(int step) {
  asm volatile("" ::: "memory");
  __atomic_store_n(&steps_done, step, __ATOMIC_RELAXED);
}

// Adds one to the steps done, for when several threads report.
inline void reach_one_more() {
  __atomic_fetch_add(&steps_done, 1, __ATOMIC_RELAXED);
}

// Waits until the step has been done.
inline void await(int step) {
  while (__atomic_load_n(&steps_done, __ATOMIC_RELAXED) < step) {
    sched_yield();
  }
}

// An int that shares no word and no cache line with another, so that compilers do not merge accesses to two of them.
struct alignas(64) Apart {
  int value;
};

// A thread that runs the function.
inline pthread_t start(void (*function)()) {
  pthread_t thread;
  auto* body = +[](void* argument) -> void* {
    reinterpret_cast<void (*)()>(argument)();
    return nullptr;
  };
  pthread_create(&thread, nullptr, body, reinterpret_cast<void*>(function));
  return thread;
}

inline void join(pthread_t thread) {
  pthread_join(thread, nullptr);
}

// Runs both functions in threads of their own and waits for them.
inline void run_threads(void (*first)(), void (*second)()) {
  pthread_t first_thread = start(first);
  pthread_t second_thread = start(second);
  join(first_thread);
  join(second_thread);
}
