// Thread-local memory of a library that was loaded late: the loader frees it when it gives the stack of a detached thread
// to another one. That it may do so it knows from the kernel.
// PLUGIN: loader_frees_norace_plugin.cc
#include <dlfcn.h>
#include <unistd.h>

#include "harness.h"

void (*use)();
int done;

static void worker() {
  use();
  __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
}

int main() {
  void* library = dlopen("./loader_frees_norace_plugin.so", RTLD_NOW);
  if (library == nullptr) return 1;
  use = reinterpret_cast<void (*)()>(dlsym(library, "use"));
  for (int i = 1; i <= 8; ++i) {
    pthread_detach(start(worker));
    while (__atomic_load_n(&done, __ATOMIC_RELAXED) < i) sched_yield();
    usleep(2000);
  }
  dlclose(library);
}
