// read, fgets and snprintf write into buffers that another thread reads.
// OUTPUT: a b 7
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart padding;
char from_pipe[8];
alignas(64) char from_file[8];
alignas(64) char printed[8];
alignas(64) char copies[3];

static void reader() {
  if (read(ends[0], from_pipe, 2) != 2) {  // RACE(a)
    return;
  }
  FILE* file = fdopen(ends[0], "r");
  if (fgets(from_file, sizeof from_file, file) == nullptr) {  // RACE(b)
    return;
  }
  fclose(file);
  snprintf(printed, sizeof printed, "%d", 7);  // RACE(c)
  reach(1);
}

int main() {
  if (pipe(ends) != 0 || write(ends[1], "a\nb\n", 4) != 4) {
    return 1;
  }
  pthread_t thread = start(reader);
  await(1);
  copies[0] = from_pipe[0];  // RACE(a)
  copies[1] = from_file[0];  // RACE(b)
  copies[2] = printed[0];    // RACE(c)
  join(thread);
  printf("%c %c %c\n", copies[0], copies[1], copies[2]);
}
