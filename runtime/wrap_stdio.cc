// Streams of stdio: what they copy from and to the caller's memory, and what goes through their descriptors.
#include <stdarg.h>
#include <stdio.h>

#include "runtime/blocking.h"
#include "runtime/descriptors.h"
#include "runtime/intercept.h"
#include "runtime/on_behalf.h"
#include "runtime/paths.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// The standard streams lead out of the program: what all threads print orders nobody.
bool is_channel(const FILE* file) { return file->_fileno > 2; }

// Before something is put in. It may stay in the buffer for a while; whoever empties that sends it on without a word.
void putting(Thread* t, uptr pc, const FILE* file) {
  if (is_channel(file)) descriptor_sends(t, pc, file->_fileno);
}

// Runs a call that takes something out, and waits for it when the buffer is empty.
template <typename Call>
auto get(Thread* t, uptr pc, FILE* file, Call call) {
  constexpr int kAtEnd = 0x10;  // of _flags
  bool waits = turn::taken() && file->_IO_read_ptr >= file->_IO_read_end && file->_fileno >= 0 &&
               descriptor_may_block(file->_fileno);
  auto take = [&] {
    Blocking blocking(t, waits);
    return call();
  };
  auto result = take();
  if (is_channel(file)) descriptor_received(t, pc, file->_fileno, (file->_flags & kAtEnd) != 0);
  return result;
}

}  // namespace

SOOTH_INTERCEPT(std::size_t, fread, void* to, std::size_t size, std::size_t count, FILE* file) {
  Thread* t = recorded_thread();
  if (t == nullptr) return real_fread(to, size, count, file);
  std::size_t done = get(t, SOOTH_CALLER, file, [&] { return real_fread(to, size, count, file); });
  writes(t, SOOTH_CALLER, to, done * size);
  return done;
}
SOOTH_INTERCEPT(std::size_t, fwrite, const void* from, std::size_t size, std::size_t count, FILE* file) {
  if (Thread* t = recorded_thread()) {
    reads(t, SOOTH_CALLER, from, size * count);
    putting(t, SOOTH_CALLER, file);
  }
  return real_fwrite(from, size, count, file);
}
SOOTH_INTERCEPT(char*, fgets, char* to, int n, FILE* file) {
  Thread* t = recorded_thread();
  if (t == nullptr) return real_fgets(to, n, file);
  char* result = get(t, SOOTH_CALLER, file, [&] { return real_fgets(to, n, file); });
  if (result != nullptr) writes_text(t, SOOTH_CALLER, to);
  return result;
}
SOOTH_INTERCEPT(int, fputs, const char* s, FILE* file) {
  if (Thread* t = recorded_thread()) {
    reads_text(t, SOOTH_CALLER, s);
    putting(t, SOOTH_CALLER, file);
  }
  return real_fputs(s, file);
}
SOOTH_INTERCEPT(int, puts, const char* s) {
  if (Thread* t = recorded_thread()) reads_text(t, SOOTH_CALLER, s);
  return real_puts(s);
}

#define SOOTH_GET_CHARACTER(name)                                         \
  SOOTH_INTERCEPT(int, name, FILE* file) {                                \
    Thread* t = recorded_thread();                                        \
    if (t == nullptr) return real_##name(file);                           \
    return get(t, SOOTH_CALLER, file, [&] { return real_##name(file); }); \
  }
SOOTH_GET_CHARACTER(fgetc)
SOOTH_GET_CHARACTER(getc)
#define SOOTH_PUT_CHARACTER(name)                                      \
  SOOTH_INTERCEPT(int, name, int character, FILE* file) {              \
    if (Thread* t = recorded_thread()) putting(t, SOOTH_CALLER, file); \
    return real_##name(character, file);                               \
  }
SOOTH_PUT_CHARACTER(fputc)
SOOTH_PUT_CHARACTER(putc)

// The line is the caller's, also where libc has made room for it.
#define SOOTH_GET_LINE(name, parameters, arguments)                                \
  SOOTH_REAL static Real<ssize_t parameters> real_##name{#name};                   \
  SOOTH_EXPORT ssize_t sooth_##name parameters asm(#name);                         \
  ssize_t sooth_##name parameters {                                                \
    Thread* t = recorded_thread();                                                 \
    if (t == nullptr) return real_##name arguments;                                \
    ssize_t n = get(t, SOOTH_CALLER, file, [&] { return real_##name arguments; }); \
    if (n < 0) return n;                                                           \
    writes(t, SOOTH_CALLER, line, sizeof *line);                                   \
    writes(t, SOOTH_CALLER, room, sizeof *room);                                   \
    writes(t, SOOTH_CALLER, *line, static_cast<std::size_t>(n) + 1);               \
    return n;                                                                      \
  }
SOOTH_GET_LINE(getline, (char** line, std::size_t* room, FILE* file), (line, room, file))
SOOTH_GET_LINE(getdelim, (char** line, std::size_t* room, int end, FILE* file), (line, room, end, file))

SOOTH_INTERCEPT(int, vfprintf, FILE* file, const char* format, va_list arguments) {
  if (Thread* t = recorded_thread()) putting(t, SOOTH_CALLER, file);
  return real_vfprintf(file, format, arguments);
}
SOOTH_EXPORT int sooth_fprintf(FILE* file, const char* format, ...) asm("fprintf");
int sooth_fprintf(FILE* file, const char* format, ...) {
  if (Thread* t = recorded_thread()) putting(t, SOOTH_CALLER, file);
  va_list arguments;
  va_start(arguments, format);
  int result = real_vfprintf(file, format, arguments);
  va_end(arguments);
  return result;
}

SOOTH_INTERCEPT(int, fflush, FILE* file) {
  Thread* t = recorded_thread();
  if (t != nullptr && file != nullptr) putting(t, SOOTH_CALLER, file);
  return real_fflush(file);
}

// As close() of the descriptor.
#define SOOTH_CLOSE_STREAM(name, waits)                            \
  SOOTH_INTERCEPT(int, name, FILE* file) {                         \
    Thread* t = recorded_thread();                                 \
    if (t == nullptr || file == nullptr) return real_##name(file); \
    int fd = file->_fileno;                                        \
    if (is_channel(file)) {                                        \
      descriptor_sends(t, SOOTH_CALLER, fd);                       \
      descriptor_ends(t, SOOTH_CALLER, fd);                        \
    }                                                              \
    descriptor_closed(fd);                                         \
    Blocking blocking(t, waits);                                   \
    return real_##name(file);                                      \
  }
SOOTH_CLOSE_STREAM(fclose, false)
SOOTH_CLOSE_STREAM(pclose, true)

// A file that is written is made, or made empty, unless something is to be added to one that is there.
template <typename Call>
static FILE* open_stream(Thread* t, uptr pc, const char* path, const char* mode, Call call) {
  bool makes = mode[0] == 'w' || (mode[0] == 'a' && !is_file(path));
  if (makes) name_changes(t, pc, path);
  FILE* file = call();
  if (file != nullptr) descriptor_opened(file->_fileno);
  if (!makes) name_seen(t, pc, path, file != nullptr);
  return file;
}
#define SOOTH_FOPEN(name)                                                                     \
  SOOTH_INTERCEPT(FILE*, name, const char* path, const char* mode) {                          \
    Thread* t = recorded_thread();                                                            \
    if (t == nullptr) return real_##name(path, mode);                                         \
    return open_stream(t, SOOTH_CALLER, path, mode, [&] { return real_##name(path, mode); }); \
  }
SOOTH_FOPEN(fopen)
SOOTH_FOPEN(fopen64)
SOOTH_INTERCEPT(FILE*, popen, const char* command, const char* mode) {
  FILE* file = real_popen(command, mode);
  if (file != nullptr && recording()) descriptor_opened(file->_fileno);
  return file;
}
