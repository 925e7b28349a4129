#include "runtime/intercept.h"

#include <dlfcn.h>

#include "runtime/init.h"

namespace sooth::rt {

void* resolve(const char* name, const char* version, bool optional) {
  void* symbol = version != nullptr ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (symbol == nullptr) symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr && !optional) fatal("libc has no ", name);
  return symbol;
}

}  // namespace sooth::rt

extern sooth::rt::AnyReal reals_begin[] asm("__start_sooth_real");
extern sooth::rt::AnyReal reals_end[] asm("__stop_sooth_real");

// Not all of them need be there: the program may do without OpenMP.
__attribute__((constructor)) static void find_all() {
  for (auto* real = reals_begin; real != reals_end; ++real) real->find(true);
  dlerror();
  // Nobody calls __tsan_init in a program without hooks.
  if (sooth::rt::is_plain_program()) sooth::rt::initialize();
}
