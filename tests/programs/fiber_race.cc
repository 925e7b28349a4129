// Two fibers of one thread write one variable; the switches are declared to order nothing.
// OUTPUT: 2 switches
// DEEP: some, fibers change stacks inside of calls
#include <stdio.h>
#include <ucontext.h>

#include "annotations.h"
#include "harness.h"

constexpr unsigned kSwitch = __tsan_switch_to_fiber_no_sync;

ucontext_t main_context, fiber_context;
void* main_fiber;
char stack[65536];
int value, switches;

static void body() {
  value = 1;  // RACE(a)
  __tsan_switch_to_fiber(main_fiber, kSwitch);
  swapcontext(&fiber_context, &main_context);
}

int main() {
  main_fiber = __tsan_get_current_fiber();
  void* fiber = __tsan_create_fiber(0);
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  makecontext(&fiber_context, body, 0);
  ++switches;
  __tsan_switch_to_fiber(fiber, kSwitch);
  swapcontext(&main_context, &fiber_context);
  ++switches;
  value = 2;  // RACE(a)
  __tsan_destroy_fiber(fiber);
  printf("%d switches\n", switches);
}
