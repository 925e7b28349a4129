// Functions of numbers write their second results, and another thread looks at it without waiting.
// FLAGS: -lm
// TSAN: some, it does not see what all of these functions touch
#include <math.h>
#include <stdlib.h>

#include "harness.h"

double whole;
alignas(64) int exponent;
alignas(64) unsigned state = 1;
volatile double number = 2.5;
Apart copy, result;

static void worker() {
  result.value = modf(number, &whole) > 0;  // RACE(a)
  result.value += frexp(number, &exponent) > 0;  // RACE(b)
  result.value += rand_r(&state) > 0;  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = whole > 0;  // RACE(a)
  copy.value += exponent;  // RACE(b)
  copy.value += state > 0;  // RACE(c)
  join(thread);
}
