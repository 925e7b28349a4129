// What redirect.h sends the compiler's own calls of memcpy and its like to.
#include "runtime/sys.h"

using sooth::rt::copy_memory;
using sooth::rt::u8;

extern "C" {

__attribute__((visibility("hidden"))) void* sooth_rt_memcpy(void* to, const void* from, std::size_t bytes) {
  copy_memory(to, from, bytes);
  return to;
}

__attribute__((visibility("hidden"))) void* sooth_rt_memmove(void* to, const void* from, std::size_t bytes) {
  auto* t = static_cast<u8*>(to);
  auto* f = static_cast<const u8*>(from);
  if (t <= f || t >= f + bytes)
    copy_memory(to, from, bytes);
  else
    while (bytes-- > 0) t[bytes] = f[bytes];
  return to;
}

__attribute__((visibility("hidden"))) void* sooth_rt_memset(void* to, int byte, std::size_t bytes) {
  sooth::rt::fill_bytes(to, byte, bytes);
  return to;
}

__attribute__((visibility("hidden"))) int sooth_rt_memcmp(const void* a, const void* b, std::size_t bytes) {
  auto* x = static_cast<const u8*>(a);
  auto* y = static_cast<const u8*>(b);
  for (; bytes > 0; --bytes, ++x, ++y)
    if (*x != *y) return *x < *y ? -1 : 1;
  return 0;
}

}  // extern "C"
