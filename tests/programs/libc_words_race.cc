// Tokens end with a zero that is written; messages are, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <string.h>

#include "harness.h"

char text[] = "one two";
alignas(64) char mine[] = "three four";
alignas(64) char message[64];
Apart copy, result;

static void worker() {
  result.value = strtok(text, " ") != nullptr;  // RACE(a) RACE(b)
  result.value += strerror_r(9999, message, sizeof message) != nullptr;  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = text[3];  // RACE(a)
  copy.value += strtok(mine, " ") != nullptr;  // RACE(b)
  copy.value += message[0];  // RACE(c)
  join(thread);
}
