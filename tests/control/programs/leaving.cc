// The process may end before, while or after its threads run. Prints how far they came; `exit` and `_exit`: ends so.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static std::atomic<int> steps, destroyed;
static void* work(void*) {
  steps = 1;
  steps = 2;
  return nullptr;
}
// Runs for ever, and must not keep the process alive.
static void* serve(void*) {
  for (;;) steps.fetch_or(4);
}
struct Last {
  ~Last() {
    std::printf("%d ", steps.load());
    destroyed = 1;
    std::printf("%d\n", steps.load());
  }
} last;

int main(int argc, char** argv) {
  pthread_t thread;
  const char* how = argc > 1 ? argv[1] : "";
  pthread_create(&thread, nullptr, std::strcmp(how, "serve") == 0 ? serve : work, nullptr);
  if (std::strcmp(how, "exit") == 0) std::exit(0);
  if (std::strcmp(how, "_exit") == 0) _exit(steps);
}
