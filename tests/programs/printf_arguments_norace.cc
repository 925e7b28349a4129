// What %s prints is read, what is printed into memory is written, and is looked at behind the join.
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
  snprintf(line, sizeof line, "%s!", text);
  fprintf(file, "%d%s\n", 1, word);
  fprintf(file, "%.*s\n", 2, beginning);
  if (asprintf(&made, "%d%n", 12, &length) < 0) return;
  fclose(file);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  text[0] = 'T';
  copy.value = line[0];
  word[0] = 'W';
  beginning[2] = '+';
  copy.value += made != nullptr;
  copy.value += length;
}
