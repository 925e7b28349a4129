// Conversions write what they are given, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <stdio.h>

#include "harness.h"

char text[] = "12 word 0.5 x";
alignas(64) int number;
alignas(64) char word[8];
alignas(64) double fraction;
alignas(64) char letter;
alignas(64) int missing;
Apart copy;

static void worker() {
  int n = sscanf(text, "%d %7s %lf %c %d", &number, word, &fraction, &letter, &missing);  // RACE(a) RACE(b) RACE(c) RACE(d) RACE(e)
  if (n != 4) return;
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = number;  // RACE(a)
  copy.value += word[0];  // RACE(b)
  copy.value += fraction > 0;  // RACE(c)
  copy.value += letter;  // RACE(d)
  copy.value += missing;
  text[0] = '7';  // RACE(e)
  join(thread);
}
