// What %s prints is read, what is printed into memory is written, and another thread looks at it without waiting.
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

char text[8] = "text";
alignas(64) char word[8] = "word";
alignas(64) char line[16];
alignas(64) char* made;
alignas(64) char beginning[8] = "ab-";
alignas(64) int length;
Apart copy;

static void worker() {
  FILE* file = fopen("/dev/null", "w");
  snprintf(line, sizeof line, "%s!", text);  // RACE(a) RACE(b)
  fprintf(file, "%d%s\n", 1, word);          // RACE(c)
  fprintf(file, "%.*s\n", 2, beginning);
  if (asprintf(&made, "%d%n", 12, &length) < 0) return;  // RACE(d) RACE(e)
  fclose(file);
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  text[0] = 'T';  // RACE(a)
  copy.value = line[0];  // RACE(b)
  word[0] = 'W';  // RACE(c)
  beginning[2] = '+';
  copy.value += made != nullptr;  // RACE(d)
  copy.value += length;  // RACE(e)
  join(thread);
}
