// Decoding writes the value, and it is looked at behind the join. The library of such functions is not
// everywhere: the plugin stands in for it.
// MACHINES: x86_64
// PLUGIN: libc_xdr_plugin.cc
// TSAN: skip, it looks for the function before the plugin is there
#include <dlfcn.h>

#include "harness.h"

struct Stream {
  int operation;
} stream = {1};
int (*decode)(Stream*, int*);
alignas(64) int value;
Apart copy;

static void worker() {
  copy.value = decode(&stream, &value);
}

int main() {
  if (dlopen("./libc_xdr_plugin.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
  decode = reinterpret_cast<int (*)(Stream*, int*)>(dlsym(RTLD_DEFAULT, "xdr_int"));
  pthread_t thread = start(worker);
  join(thread);
  int seen = value;
  return seen == 7 ? 0 : 1;
}
