// The text is read and the end is written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <inttypes.h>
#include <stdlib.h>

#include "harness.h"

char text[] = "12 ";
alignas(64) char other[] = "0.5 ";
alignas(64) char* end;
Apart result, copy;

static void worker() {
  result.value = static_cast<int>(strtol(text, &end, 10));  // RACE(a) RACE(b)
  result.value += strtod(other, nullptr) > 0;  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  text[0] = '3';  // RACE(a)
  copy.value = *end;  // RACE(b)
  other[0] = '1';  // RACE(c)
  other[4] = 'x';
  join(thread);
}
