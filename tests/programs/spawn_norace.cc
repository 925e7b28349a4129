// posix_spawn, system and popen start other programs.
// OUTPUT: spawned
// OUTPUT: called
// OUTPUT: piped
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

int value;

static void writer() {
  value = 1;
}

int main() {
  pthread_t thread = start(writer);
  char program[] = "echo", word[] = "spawned";
  char* arguments[] = {program, word, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, "/bin/echo", nullptr, nullptr, arguments, environ) == 0) {
    waitpid(child, nullptr, 0);
  }
  if (system("echo called") != 0) {
    return 1;
  }
  char line[16];
  FILE* pipe = popen("echo piped", "r");
  if (fgets(line, sizeof line, pipe) != nullptr) {
    fputs(line, stdout);
  }
  pclose(pipe);
  join(thread);
}
