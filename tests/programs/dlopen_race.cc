// A race inside a plugin that is loaded while the program runs.
// PLUGIN: dlopen_race_plugin.cc
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
  void* plugin = dlopen("./dlopen_race_plugin.so", RTLD_NOW);
  if (plugin == nullptr) {
    puts(dlerror());
    return 1;
  }
  work = reinterpret_cast<void (*)(int)>(dlsym(plugin, "work"));
  run_threads(first, second);
  dlclose(plugin);
}
