// The text is read and the end is written, and is looked at behind the join.
#include <inttypes.h>
#include <stdlib.h>

#include "harness.h"

char text[] = "12 ";
alignas(64) char other[] = "0.5 ";
alignas(64) char* end;
Apart result, copy;

static void worker() {
  result.value = static_cast<int>(strtol(text, &end, 10));
  result.value += strtod(other, nullptr) > 0;
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  text[0] = '3';
  copy.value = *end;
  other[0] = '1';
  other[4] = 'x';
}
