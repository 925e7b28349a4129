// One thread writes after a long sleep; the other, which is there at once, must be made to wait for it.
#include <unistd.h>

#include <cstdio>
#include <thread>

int value;

int main() {
  std::thread sleeper([] {
    sleep(100);
    value = 1;  // SITE(1)
  });
  int seen = value;  // SITE(2)
  sleeper.join();
  std::printf("%d\n", seen);
}
