// read, fgets and snprintf write into buffers that are read after the join.
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
  if (read(ends[0], from_pipe, 2) != 2) {
    return;
  }
  FILE* file = fdopen(ends[0], "r");
  if (fgets(from_file, sizeof from_file, file) == nullptr) {
    return;
  }
  fclose(file);
  snprintf(printed, sizeof printed, "%d", 7);
  reach(1);
}

int main() {
  if (pipe(ends) != 0 || write(ends[1], "a\nb\n", 4) != 4) {
    return 1;
  }
  pthread_t thread = start(reader);
  join(thread);
  copies[0] = from_pipe[0];
  copies[1] = from_file[0];
  copies[2] = printed[0];
  printf("%c %c %c\n", copies[0], copies[1], copies[2]);
}
