// Functions of libc that read and write memory for their caller: each becomes the accesses it makes.
#include <string.h>
#include <wchar.h>

#include "runtime/on_behalf.h"
#include "runtime/openmp.h"

using namespace sooth;
using namespace sooth::rt;

// nullptr: not recorded; also where libstdc++.so does what is told of its caller: wrap_cxx.cc.
SOOTH_INLINE Thread* copying_thread() {
  Thread* t = recorded_thread();
  if (SOOTH_UNLIKELY(openmp::libomp_.contains(SOOTH_CALLER))) return nullptr;
  if (SOOTH_UNLIKELY(t != nullptr && t->library_call != 0) &&
      reinterpret_cast<uptr>(__builtin_frame_address(0)) < t->library_call)
    return nullptr;
  return t;
}

#define SOOTH_COPY(name)                                                    \
  SOOTH_INTERCEPT(void*, name, void* to, const void* from, std::size_t n) { \
    if (Thread* t = copying_thread()) {                                     \
      reads(t, SOOTH_CALLER, from, n);                                      \
      writes(t, SOOTH_CALLER, to, n);                                       \
    }                                                                       \
    return real_##name(to, from, n);                                        \
  }
SOOTH_COPY(memmove)
SOOTH_COPY(mempcpy)

// memcpy binds to the oldest version when it has none; that one is memmove.
SOOTH_REAL static Real<void*(void*, const void*, std::size_t)> real_memcpy{"memcpy", "GLIBC_2.14"};
SOOTH_EXPORT void* sooth_memcpy(void* to, const void* from, std::size_t n) asm("memcpy");
void* sooth_memcpy(void* to, const void* from, std::size_t n) {
  if (Thread* t = copying_thread()) {
    reads(t, SOOTH_CALLER, from, n);
    writes(t, SOOTH_CALLER, to, n);
  }
  return real_memcpy(to, from, n);
}

SOOTH_INTERCEPT(void*, memset, void* to, int byte, std::size_t n) {
  if (Thread* t = copying_thread()) writes(t, SOOTH_CALLER, to, n);
  return real_memset(to, byte, n);
}
SOOTH_INTERCEPT(void, bzero, void* to, std::size_t n) {
  if (Thread* t = copying_thread()) writes(t, SOOTH_CALLER, to, n);
  real_memset(to, 0, n);
}
SOOTH_INTERCEPT(void, bcopy, const void* from, void* to, std::size_t n) {
  if (Thread* t = copying_thread()) {
    reads(t, SOOTH_CALLER, from, n);
    writes(t, SOOTH_CALLER, to, n);
  }
  real_memmove(to, from, n);
}

// What is called instead with _FORTIFY_SOURCE: libc looks at the size, if it is too small, and ends the program.
#define SOOTH_COPY_CHECKED(name)                                                              \
  SOOTH_INTERCEPT(void*, name, void* to, const void* from, std::size_t n, std::size_t room) { \
    if (Thread* t = copying_thread()) {                                                       \
      reads(t, SOOTH_CALLER, from, n);                                                        \
      writes(t, SOOTH_CALLER, to, n);                                                         \
    }                                                                                         \
    return real_##name(to, from, n, room);                                                    \
  }
SOOTH_COPY_CHECKED(__memcpy_chk)
SOOTH_COPY_CHECKED(__memmove_chk)
SOOTH_COPY_CHECKED(__mempcpy_chk)
SOOTH_INTERCEPT(void*, __memset_chk, void* to, int byte, std::size_t n, std::size_t room) {
  if (Thread* t = copying_thread()) writes(t, SOOTH_CALLER, to, n);
  return real___memset_chk(to, byte, n, room);
}

// clang 19 calls these instead of libc's.
SOOTH_EXPORT void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  if (Thread* t = current()) {
    reads(t, SOOTH_CALLER, from, n);
    writes(t, SOOTH_CALLER, to, n);
  }
  return real_memcpy(to, from, n);
}
SOOTH_EXPORT void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  if (Thread* t = current()) {
    reads(t, SOOTH_CALLER, from, n);
    writes(t, SOOTH_CALLER, to, n);
  }
  return real_memmove(to, from, n);
}
SOOTH_EXPORT void* __tsan_memset(void* to, int byte, std::size_t n) {
  if (Thread* t = current()) writes(t, SOOTH_CALLER, to, n);
  return real_memset(to, byte, n);
}

#define SOOTH_COMPARE_BYTES(name)                                                                   \
  SOOTH_INTERCEPT(int, name, const void* a, const void* b, std::size_t n) {                         \
    int result = real_##name(a, b, n);                                                              \
    if (Thread* t = copying_thread()) {                                                             \
      /* Up to the first difference: what lies behind it is not read. */                            \
      std::size_t used = n;                                                                         \
      if (result != 0)                                                                              \
        for (used = 0; static_cast<const u8*>(a)[used] == static_cast<const u8*>(b)[used];) ++used; \
      if (result != 0) ++used;                                                                      \
      reads(t, SOOTH_CALLER, a, used);                                                              \
      reads(t, SOOTH_CALLER, b, used);                                                              \
    }                                                                                               \
    return result;                                                                                  \
  }
SOOTH_COMPARE_BYTES(memcmp)
SOOTH_COMPARE_BYTES(bcmp)

SOOTH_INTERCEPT(void*, memchr, const void* s, int c, std::size_t n) {
  void* found = real_memchr(s, c, n);
  if (Thread* t = copying_thread())
    reads(t, SOOTH_CALLER, s,
          found == nullptr ? n : static_cast<std::size_t>(static_cast<char*>(found) - static_cast<const char*>(s)) + 1);
  return found;
}
SOOTH_INTERCEPT(void*, memrchr, const void* s, int c, std::size_t n) {
  if (Thread* t = copying_thread()) reads(t, SOOTH_CALLER, s, n);
  return real_memrchr(s, c, n);
}

SOOTH_INTERCEPT(std::size_t, strlen, const char* s) {
  std::size_t n = real_strlen(s);
  if (Thread* t = copying_thread()) reads(t, SOOTH_CALLER, s, n + 1);
  return n;
}
SOOTH_INTERCEPT(std::size_t, strnlen, const char* s, std::size_t limit) {
  std::size_t n = real_strnlen(s, limit);
  if (Thread* t = copying_thread()) reads(t, SOOTH_CALLER, s, n < limit ? n + 1 : n);
  return n;
}

// Both strings as far as a comparison looks at them.
#define SOOTH_COMPARE(name, same)                            \
  SOOTH_INTERCEPT(int, name, const char* a, const char* b) { \
    if (Thread* t = copying_thread()) {                      \
      std::size_t n = 0;                                     \
      while (a[n] != 0 && same(a[n], b[n])) ++n;             \
      reads(t, SOOTH_CALLER, a, n + 1);                      \
      reads(t, SOOTH_CALLER, b, n + 1);                      \
    }                                                        \
    return real_##name(a, b);                                \
  }
#define SOOTH_COMPARE_N(name, same)                                             \
  SOOTH_INTERCEPT(int, name, const char* a, const char* b, std::size_t limit) { \
    if (Thread* t = copying_thread()) {                                         \
      std::size_t n = 0;                                                        \
      while (n < limit && a[n] != 0 && same(a[n], b[n])) ++n;                   \
      if (n < limit) ++n;                                                       \
      reads(t, SOOTH_CALLER, a, n);                                             \
      reads(t, SOOTH_CALLER, b, n);                                             \
    }                                                                           \
    return real_##name(a, b, limit);                                            \
  }
static bool same_byte(char a, char b) { return a == b; }
static bool same_letter(char a, char b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return lower(a) == lower(b);
}
SOOTH_COMPARE(strcmp, same_byte)
SOOTH_COMPARE(strcasecmp, same_letter)
SOOTH_COMPARE_N(strncmp, same_byte)
SOOTH_COMPARE_N(strncasecmp, same_letter)

SOOTH_INTERCEPT(char*, strchr, const char* s, int c) {
  char* found = real_strchr(s, c);
  if (Thread* t = copying_thread())
    reads(t, SOOTH_CALLER, s, (found == nullptr ? real_strlen(s) : static_cast<std::size_t>(found - s)) + 1);
  return found;
}
SOOTH_INTERCEPT(char*, strchrnul, const char* s, int c) {
  char* found = real_strchrnul(s, c);
  if (Thread* t = copying_thread()) reads(t, SOOTH_CALLER, s, static_cast<std::size_t>(found - s) + 1);
  return found;
}
SOOTH_INTERCEPT(char*, strrchr, const char* s, int c) {
  if (Thread* t = copying_thread()) reads(t, SOOTH_CALLER, s, real_strlen(s) + 1);
  return real_strrchr(s, c);
}
#define SOOTH_TWO_STRINGS(result, name)                             \
  SOOTH_INTERCEPT(result, name, const char* s, const char* other) { \
    if (Thread* t = copying_thread()) {                             \
      reads(t, SOOTH_CALLER, s, real_strlen(s) + 1);                \
      reads(t, SOOTH_CALLER, other, real_strlen(other) + 1);        \
    }                                                               \
    return real_##name(s, other);                                   \
  }
SOOTH_TWO_STRINGS(char*, strstr)
SOOTH_TWO_STRINGS(char*, strcasestr)
SOOTH_TWO_STRINGS(std::size_t, strspn)
SOOTH_TWO_STRINGS(std::size_t, strcspn)
SOOTH_TWO_STRINGS(char*, strpbrk)

#define SOOTH_STRING_COPY(name)                              \
  SOOTH_INTERCEPT(char*, name, char* to, const char* from) { \
    if (Thread* t = copying_thread()) {                      \
      std::size_t n = real_strlen(from) + 1;                 \
      reads(t, SOOTH_CALLER, from, n);                       \
      writes(t, SOOTH_CALLER, to, n);                        \
    }                                                        \
    return real_##name(to, from);                            \
  }
SOOTH_STRING_COPY(strcpy)
SOOTH_STRING_COPY(stpcpy)

#define SOOTH_STRING_COPY_CHECKED(name)                                        \
  SOOTH_INTERCEPT(char*, name, char* to, const char* from, std::size_t room) { \
    if (Thread* t = copying_thread()) {                                        \
      std::size_t n = real_strlen(from) + 1;                                   \
      reads(t, SOOTH_CALLER, from, n);                                         \
      writes(t, SOOTH_CALLER, to, n);                                          \
    }                                                                          \
    return real_##name(to, from, room);                                        \
  }
SOOTH_STRING_COPY_CHECKED(__strcpy_chk)
SOOTH_STRING_COPY_CHECKED(__stpcpy_chk)

// Fills up with zeros.
#define SOOTH_BOUNDED_STRING_COPY(name)                                     \
  SOOTH_INTERCEPT(char*, name, char* to, const char* from, std::size_t n) { \
    if (Thread* t = copying_thread()) {                                     \
      std::size_t used = length_of(from, n);                                \
      reads(t, SOOTH_CALLER, from, used < n ? used + 1 : n);                \
      writes(t, SOOTH_CALLER, to, n);                                       \
    }                                                                       \
    return real_##name(to, from, n);                                        \
  }
SOOTH_BOUNDED_STRING_COPY(strncpy)
SOOTH_BOUNDED_STRING_COPY(stpncpy)
SOOTH_INTERCEPT(char*, __strncpy_chk, char* to, const char* from, std::size_t n, std::size_t room) {
  if (Thread* t = copying_thread()) {
    std::size_t used = length_of(from, n);
    reads(t, SOOTH_CALLER, from, used < n ? used + 1 : n);
    writes(t, SOOTH_CALLER, to, n);
  }
  return real___strncpy_chk(to, from, n, room);
}

SOOTH_INTERCEPT(char*, strcat, char* to, const char* from) {
  if (Thread* t = copying_thread()) {
    std::size_t n = real_strlen(from) + 1, at = real_strlen(to);
    reads(t, SOOTH_CALLER, from, n);
    reads(t, SOOTH_CALLER, to, at + 1);
    writes(t, SOOTH_CALLER, to + at, n);
  }
  return real_strcat(to, from);
}
SOOTH_INTERCEPT(char*, __strcat_chk, char* to, const char* from, std::size_t room) {
  if (Thread* t = copying_thread()) {
    std::size_t n = real_strlen(from) + 1, at = real_strlen(to);
    reads(t, SOOTH_CALLER, from, n);
    reads(t, SOOTH_CALLER, to, at + 1);
    writes(t, SOOTH_CALLER, to + at, n);
  }
  return real___strcat_chk(to, from, room);
}
SOOTH_INTERCEPT(char*, strncat, char* to, const char* from, std::size_t n) {
  if (Thread* t = copying_thread()) {
    std::size_t used = length_of(from, n), at = real_strlen(to);
    reads(t, SOOTH_CALLER, from, used < n ? used + 1 : n);
    reads(t, SOOTH_CALLER, to, at + 1);
    writes(t, SOOTH_CALLER, to + at, used + 1);
  }
  return real_strncat(to, from, n);
}
// The copy is allocated inside libc, which calls our malloc.
SOOTH_INTERCEPT(char*, strdup, const char* s) {
  if (Thread* t = copying_thread()) reads(t, SOOTH_CALLER, s, real_strlen(s) + 1);
  return real_strdup(s);
}
SOOTH_INTERCEPT(char*, strndup, const char* s, std::size_t n) {
  if (Thread* t = copying_thread()) {
    std::size_t used = length_of(s, n);
    reads(t, SOOTH_CALLER, s, used < n ? used + 1 : n);
  }
  return real_strndup(s, n);
}

// Other names of the same functions, which old programs and libraries call.
SOOTH_SAME_AS(__bzero, bzero);
SOOTH_SAME_AS(__strndup, strndup);
