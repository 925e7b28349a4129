// Streams of stdio: what they copy from and to the caller's memory, and what goes through their descriptors.
#include <stdio.h>

#include "runtime/on_behalf.h"
#include "runtime/paths.h"
#include "runtime/streams.h"

using namespace sooth;
using namespace sooth::rt;

SOOTH_INTERCEPT(std::size_t, fread, void* to, std::size_t size, std::size_t count, FILE* file) {
  SOOTH_UNSAFE(fread);
  Thread* t = recorded_thread();
  if (t == nullptr) return real_fread(to, size, count, file);
  std::size_t done = get(t, SOOTH_CALLER, file, [&] { return real_fread(to, size, count, file); });
  writes(t, SOOTH_CALLER, to, done * size);
  return done;
}
SOOTH_INTERCEPT(std::size_t, fwrite, const void* from, std::size_t size, std::size_t count, FILE* file) {
  SOOTH_UNSAFE(fwrite);
  if (Thread* t = recorded_thread()) {
    reads(t, SOOTH_CALLER, from, size * count);
    putting(t, SOOTH_CALLER, file);
  }
  return real_fwrite(from, size, count, file);
}
SOOTH_INTERCEPT(char*, fgets, char* to, int n, FILE* file) {
  SOOTH_UNSAFE(fgets);
  Thread* t = recorded_thread();
  if (t == nullptr) return real_fgets(to, n, file);
  char* result = get(t, SOOTH_CALLER, file, [&] { return real_fgets(to, n, file); });
  if (result != nullptr) writes_text(t, SOOTH_CALLER, to);
  return result;
}
SOOTH_INTERCEPT(int, fputs, const char* s, FILE* file) {
  SOOTH_UNSAFE(fputs);
  if (Thread* t = recorded_thread()) {
    reads_text(t, SOOTH_CALLER, s);
    putting(t, SOOTH_CALLER, file);
  }
  return real_fputs(s, file);
}
SOOTH_INTERCEPT(int, puts, const char* s) {
  SOOTH_UNSAFE(puts);
  if (Thread* t = recorded_thread()) reads_text(t, SOOTH_CALLER, s);
  return real_puts(s);
}

#define SOOTH_GET_CHARACTER(name)                                         \
  SOOTH_INTERCEPT(int, name, FILE* file) {                                \
    SOOTH_UNSAFE(name);                                                   \
    Thread* t = recorded_thread();                                        \
    if (t == nullptr) return real_##name(file);                           \
    return get(t, SOOTH_CALLER, file, [&] { return real_##name(file); }); \
  }
SOOTH_GET_CHARACTER(fgetc)
SOOTH_GET_CHARACTER(getc)
#define SOOTH_PUT_CHARACTER(name)                                      \
  SOOTH_INTERCEPT(int, name, int character, FILE* file) {              \
    SOOTH_UNSAFE(name);                                                \
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
    SOOTH_UNSAFE(name);                                                            \
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
SOOTH_GET_LINE(__getdelim, (char** line, std::size_t* room, int end, FILE* file), (line, room, end, file))

SOOTH_INTERCEPT(int, fflush, FILE* file) {
  SOOTH_UNSAFE(fflush);
  Thread* t = recorded_thread();
  if (t != nullptr && file != nullptr) putting(t, SOOTH_CALLER, file);
  return real_fflush(file);
}

// As close() of the descriptor.
#define SOOTH_CLOSE_STREAM(name, waits)                            \
  SOOTH_INTERCEPT(int, name, FILE* file) {                         \
    SOOTH_UNSAFE(name);                                            \
    Thread* t = recorded_thread();                                 \
    if (t == nullptr || file == nullptr) return real_##name(file); \
    int fd = file->_fileno;                                        \
    if (fd >= 0) descriptor_closes(t, SOOTH_CALLER, fd);           \
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
    SOOTH_UNSAFE(name);                                                                       \
    Thread* t = recorded_thread();                                                            \
    if (t == nullptr) return real_##name(path, mode);                                         \
    return open_stream(t, SOOTH_CALLER, path, mode, [&] { return real_##name(path, mode); }); \
  }
SOOTH_FOPEN(fopen)
SOOTH_FOPEN(fopen64)
SOOTH_INTERCEPT(FILE*, popen, const char* command, const char* mode) {
  SOOTH_UNSAFE(popen);
  FILE* file = real_popen(command, mode);
  if (file != nullptr && recording()) descriptor_opened(file->_fileno);
  return file;
}
// A descriptor under a new number, or none: streams in memory.
static FILE* opened(FILE* file) {
  if (file != nullptr && file->_fileno >= 0 && recording()) descriptor_opened(file->_fileno);
  return file;
}
SOOTH_INTERCEPT(FILE*, tmpfile, void) {
  SOOTH_UNSAFE(tmpfile);
  return opened(real_tmpfile());
}
SOOTH_INTERCEPT(FILE*, tmpfile64, void) {
  SOOTH_UNSAFE(tmpfile64);
  return opened(real_tmpfile64());
}
SOOTH_INTERCEPT(FILE*, freopen, const char* path, const char* mode, FILE* file) {
  SOOTH_UNSAFE(freopen);
  return opened(real_freopen(path, mode, file));
}
SOOTH_INTERCEPT(FILE*, freopen64, const char* path, const char* mode, FILE* file) {
  SOOTH_UNSAFE(freopen64);
  return opened(real_freopen64(path, mode, file));
}
