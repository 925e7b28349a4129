// A plugin that is loaded, used, unloaded and loaded again.
// PLUGIN: dlopen_norace_plugin.cc
#include <dlfcn.h>
#include <stdio.h>

#include "harness.h"

void (*work)(int);

static void first() {
  work(1);
}

static void second() {
  work(2);
}

int main() {
  for (int i = 0; i < 2; ++i) {
    void* plugin = dlopen("./dlopen_norace_plugin.so", RTLD_NOW);
    if (plugin == nullptr) {
      puts(dlerror());
      return 1;
    }
    work = reinterpret_cast<void (*)(int)>(dlsym(plugin, "work"));
    run_threads(first, second);
    dlclose(plugin);
  }
}
