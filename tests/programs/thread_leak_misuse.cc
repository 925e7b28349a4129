// A thread that is neither joined nor detached: nobody will ever give its memory back.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "harness.h"

static std::atomic<long> number{0};

static void* work(void*) {
  number = syscall(SYS_gettid);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);  // MISUSE(thread-leak)
  while (number == 0) sched_yield();
  // Only a thread that is over is a leak: others may be meant to run for as long as the program.
  while (syscall(SYS_tgkill, getpid(), number.load(), 0) == 0) sched_yield();
}
