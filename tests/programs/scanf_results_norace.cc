// Conversions write what they are given, and is looked at behind the join.
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
  int n = sscanf(text, "%d %7s %lf %c %d", &number, word, &fraction, &letter, &missing);
  if (n != 4) return;
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = number;
  copy.value += word[0];
  copy.value += fraction > 0;
  copy.value += letter;
  copy.value += missing;
  text[0] = '7';
}
