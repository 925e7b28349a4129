// Tokens end with a zero that is written; messages are, and is looked at behind the join.
#include <string.h>

#include "harness.h"

char text[] = "one two";
alignas(64) char mine[] = "three four";
alignas(64) char message[64];
Apart copy, result;

static void worker() {
  result.value = strtok(text, " ") != nullptr;
  result.value += strerror_r(9999, message, sizeof message) != nullptr;
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = text[3];
  copy.value += strtok(mine, " ") != nullptr;
  copy.value += message[0];
}
