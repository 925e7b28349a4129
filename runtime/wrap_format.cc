// printf and scanf in all their forms: what %s prints is read, what conversions fill in is written.
#include <stdarg.h>
#include <stdio.h>

#include "runtime/formats.h"
#include "runtime/on_behalf.h"
#include "runtime/streams.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

template <typename Call, typename Done>
int print(const OnBehalf& on, const char* format, va_list arguments, Call call, Done done) {
  if (!on) return call();
  printf_reads(on, format, arguments);
  va_list copy;
  va_copy(copy, arguments);
  int result = call();
  {
    KeepErrno keep;
    if (result >= 0) done(result);
    printf_writes(on, format, copy);
  }
  va_end(copy);
  return result;
}

template <typename Call>
int scan(const OnBehalf& on, const char* format, va_list arguments, Call call) {
  if (!on) return call();
  on.text(format);
  va_list copy;
  va_copy(copy, arguments);
  int result = call();
  {
    KeepErrno keep;
    if (result >= 0) scanf_writes(on, format, copy, result);
  }
  va_end(copy);
  return result;
}

// From a stream, which may have to wait.
template <typename Call>
SOOTH_INLINE int scan_stream(const OnBehalf& on, FILE* file, Call call) {
  return on ? get(on.thread(), on.pc(), file, call) : call();
}

std::size_t printed(int result, std::size_t room) {
  auto n = static_cast<std::size_t>(result) + 1;
  return n < room ? n : room;
}

}  // namespace

// A row is a pair, the function with `...` and the one with a va_list: names, parameters, arguments of the second, and
// what is done before and behind the call.
#define SOOTH_PRINTF(name, parameters, vname, vparameters, varguments, before, ...) \
  SOOTH_REAL static Real<int vparameters> real_##vname{#vname};                     \
  SOOTH_EXPORT int sooth_##vname vparameters asm(#vname);                           \
  int sooth_##vname vparameters {                                                   \
    SOOTH_UNSAFE(vname);                                                            \
    const OnBehalf on(recorded_thread(), SOOTH_CALLER);                             \
    before;                                                                         \
    auto done = [&]([[maybe_unused]] int r) { __VA_ARGS__; };                       \
    return print(                                                                   \
        on, format, list, [&] { return real_##vname varguments; }, done);           \
  }                                                                                 \
  SOOTH_EXPORT int sooth_##name parameters asm(#name);                              \
  int sooth_##name parameters {                                                     \
    SOOTH_UNSAFE(name);                                                             \
    const OnBehalf on(recorded_thread(), SOOTH_CALLER);                             \
    before;                                                                         \
    auto done = [&]([[maybe_unused]] int r) { __VA_ARGS__; };                       \
    va_list list;                                                                   \
    va_start(list, format);                                                         \
    int result = print(                                                             \
        on, format, list, [&] { return real_##vname varguments; }, done);           \
    va_end(list);                                                                   \
    return result;                                                                  \
  }

// Family printf_arguments: formatted output to streams, descriptors, buffers and new memory.
SOOTH_PRINTF(printf, (const char* format, ...), vprintf, (const char* format, va_list list), (format, list), (void)0)
SOOTH_PRINTF(fprintf, (FILE * file, const char* format, ...), vfprintf, (FILE * file, const char* format, va_list list),
             (file, format, list), putting(on.thread(), on.pc(), file))
SOOTH_PRINTF(dprintf, (int fd, const char* format, ...), vdprintf, (int fd, const char* format, va_list list),
             (fd, format, list), if (on && fd > 2) descriptor_sends(on.thread(), on.pc(), fd))
SOOTH_PRINTF(sprintf, (char* to, const char* format, ...), vsprintf, (char* to, const char* format, va_list list),
             (to, format, list), (void)0, on.out(to, printed(r, ~std::size_t{0})))
SOOTH_PRINTF(snprintf, (char* to, std::size_t room, const char* format, ...), vsnprintf,
             (char* to, std::size_t room, const char* format, va_list list), (to, room, format, list), (void)0,
             on.out(to, printed(r, room)))
SOOTH_PRINTF(asprintf, (char** to, const char* format, ...), vasprintf, (char** to, const char* format, va_list list),
             (to, format, list), (void)0, on.out(to), on.out_text(*to))
// What is called instead with _FORTIFY_SOURCE.
SOOTH_PRINTF(__printf_chk, (int flag, const char* format, ...), __vprintf_chk,
             (int flag, const char* format, va_list list), (flag, format, list), (void)0)
SOOTH_PRINTF(__fprintf_chk, (FILE * file, int flag, const char* format, ...), __vfprintf_chk,
             (FILE * file, int flag, const char* format, va_list list), (file, flag, format, list),
             putting(on.thread(), on.pc(), file))
SOOTH_PRINTF(__dprintf_chk, (int fd, int flag, const char* format, ...), __vdprintf_chk,
             (int fd, int flag, const char* format, va_list list), (fd, flag, format, list),
             if (on && fd > 2) descriptor_sends(on.thread(), on.pc(), fd))
SOOTH_PRINTF(__sprintf_chk, (char* to, int flag, std::size_t size, const char* format, ...), __vsprintf_chk,
             (char* to, int flag, std::size_t size, const char* format, va_list list), (to, flag, size, format, list),
             (void)0, on.out(to, printed(r, ~std::size_t{0})))
SOOTH_PRINTF(__snprintf_chk, (char* to, std::size_t room, int flag, std::size_t size, const char* format, ...),
             __vsnprintf_chk,
             (char* to, std::size_t room, int flag, std::size_t size, const char* format, va_list list),
             (to, room, flag, size, format, list), (void)0, on.out(to, printed(r, room)))
SOOTH_PRINTF(__asprintf_chk, (char** to, int flag, const char* format, ...), __vasprintf_chk,
             (char** to, int flag, const char* format, va_list list), (to, flag, format, list), (void)0, on.out(to),
             on.out_text(*to))

#define SOOTH_SCANF_BY(from, name, parameters, vname, vparameters, varguments, before) \
  SOOTH_REAL static Real<int vparameters> real_##vname{#vname};                        \
  SOOTH_EXPORT int sooth_##vname vparameters asm(#vname);                              \
  int sooth_##vname vparameters {                                                      \
    SOOTH_UNSAFE(vname);                                                               \
    const OnBehalf on(recorded_thread(), SOOTH_CALLER);                                \
    before;                                                                            \
    auto call = [&] { return from([&] { return real_##vname varguments; }); };         \
    return scan(on, format, list, call);                                               \
  }                                                                                    \
  SOOTH_EXPORT int sooth_##name parameters asm(#name);                                 \
  int sooth_##name parameters {                                                        \
    SOOTH_UNSAFE(name);                                                                \
    const OnBehalf on(recorded_thread(), SOOTH_CALLER);                                \
    before;                                                                            \
    va_list list;                                                                      \
    va_start(list, format);                                                            \
    auto call = [&] { return from([&] { return real_##vname varguments; }); };         \
    int result = scan(on, format, list, call);                                         \
    va_end(list);                                                                      \
    return result;                                                                     \
  }
#define SOOTH_FROM_TEXT(call) call()
#define SOOTH_FROM_FILE(call) scan_stream(on, file, call)
#define SOOTH_FROM_INPUT(call) scan_stream(on, stdin, call)

// Family scanf_results: formatted input; the names with isoc99 and isoc23 are what C99 and C23 call.
#define SOOTH_SCANF(name, vname)                                                                               \
  SOOTH_SCANF_BY(SOOTH_FROM_INPUT, name, (const char* format, ...), vname, (const char* format, va_list list), \
                 (format, list), (void)0)
#define SOOTH_FSCANF(name, vname)                                                      \
  SOOTH_SCANF_BY(SOOTH_FROM_FILE, name, (FILE * file, const char* format, ...), vname, \
                 (FILE * file, const char* format, va_list list), (file, format, list), (void)0)
#define SOOTH_SSCANF(name, vname)                                                           \
  SOOTH_SCANF_BY(SOOTH_FROM_TEXT, name, (const char* text, const char* format, ...), vname, \
                 (const char* text, const char* format, va_list list), (text, format, list), on.text(text))
SOOTH_SCANF(scanf, vscanf)
SOOTH_SCANF(__isoc99_scanf, __isoc99_vscanf)
SOOTH_SCANF(__isoc23_scanf, __isoc23_vscanf)
SOOTH_FSCANF(fscanf, vfscanf)
SOOTH_FSCANF(__isoc99_fscanf, __isoc99_vfscanf)
SOOTH_FSCANF(__isoc23_fscanf, __isoc23_vfscanf)
SOOTH_SSCANF(sscanf, vsscanf)
SOOTH_SSCANF(__isoc99_sscanf, __isoc99_vsscanf)
SOOTH_SSCANF(__isoc23_sscanf, __isoc23_vsscanf)
