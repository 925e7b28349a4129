// Functions of numbers write their second results, and is looked at behind the join.
// FLAGS: -lm
#include <math.h>
#include <stdlib.h>

#include "harness.h"

double whole;
alignas(64) int exponent;
alignas(64) unsigned state = 1;
volatile double number = 2.5;
Apart copy, result;

static void worker() {
  result.value = modf(number, &whole) > 0;
  result.value += frexp(number, &exponent) > 0;
  result.value += rand_r(&state) > 0;
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = whole > 0;
  copy.value += exponent;
  copy.value += state > 0;
}
