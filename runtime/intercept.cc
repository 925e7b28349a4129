#include "runtime/intercept.h"

#include <dlfcn.h>

namespace sooth::rt {

void* resolve(const char* name, const char* version, bool optional) {
  void* symbol = version != nullptr ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (symbol == nullptr) symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr && !optional) fatal("libc has no ", name);
  return symbol;
}

}  // namespace sooth::rt
