// A child by fork with threads of its own, which then becomes another program.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

int value = 0;

void add() {
  for (int i = 0; i < 3; ++i) value = value + 1;
}

int main(int count, char** arguments) {
  std::thread a(add), b(add);
  a.join();
  b.join();
  if (count > 1 && std::strcmp(arguments[1], "last") == 0) {
    std::puts("executed");
    return 7;
  }
  pid_t child = fork();
  if (child == 0) {
    std::thread c(add), d(add);
    c.join();
    d.join();
    execl("/proc/self/exe", arguments[0], "last", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}
