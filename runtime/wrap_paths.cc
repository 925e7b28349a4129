#include "runtime/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/descriptors.h"
#include "runtime/intercept.h"
#include "runtime/on_behalf.h"
#include "runtime/turn.h"

using namespace sooth;
using namespace sooth::rt;

namespace sooth::rt {

void name_changes(Thread* t, uptr pc, const char* path) { channel_sends(t, pc, channel_named(Named::kPath, path)); }

void name_seen(Thread* t, uptr pc, const char* path, bool found) {
  int error = errno;
  channel_received(t, pc, channel_named(Named::kPath, path));
  if (!found) turn::yield(t);
  errno = error;
}

bool is_file(const char* path) { return sys_call(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), F_OK) == 0; }

}  // namespace sooth::rt

namespace {

// Opening a file tells that it is there; it makes it when it is not, or empties it.
template <typename Call>
int open_with(Thread* t, uptr pc, const char* path, int flags, Call call) {
  bool makes = (flags & O_TRUNC) != 0 || ((flags & O_CREAT) != 0 && !is_file(path));
  if (makes) name_changes(t, pc, path);
  int fd = call();
  descriptor_opened(fd);
  if (!makes) name_seen(t, pc, path, fd >= 0);
  return fd;
}

mode_t mode_of(int flags, va_list rest) {
  bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? static_cast<mode_t>(va_arg(rest, unsigned)) : 0;
}

}  // namespace

#define SOOTH_OPEN(name, parameters, arguments)                                                          \
  SOOTH_REAL static Real<int(parameters, int, mode_t)> real_##name{#name};                               \
  SOOTH_EXPORT int sooth_##name(parameters, int flags, ...) asm(#name);                                  \
  int sooth_##name(parameters, int flags, ...) {                                                         \
    va_list rest;                                                                                        \
    va_start(rest, flags);                                                                               \
    mode_t mode = mode_of(flags, rest);                                                                  \
    va_end(rest);                                                                                        \
    Thread* t = current();                                                                               \
    if (t == nullptr) return real_##name(arguments, flags, mode);                                        \
    return open_with(t, SOOTH_CALLER, path, flags, [&] { return real_##name(arguments, flags, mode); }); \
  }
#define SOOTH_BOTH(a, b) a, b
SOOTH_OPEN(open, const char* path, path)
SOOTH_OPEN(open64, const char* path, path)
SOOTH_OPEN(openat, SOOTH_BOTH(int folder, const char* path), SOOTH_BOTH(folder, path))
SOOTH_OPEN(openat64, SOOTH_BOTH(int folder, const char* path), SOOTH_BOTH(folder, path))

#define SOOTH_CREAT(name)                                           \
  SOOTH_INTERCEPT(int, name, const char* path, mode_t mode) {       \
    if (Thread* t = current()) name_changes(t, SOOTH_CALLER, path); \
    int fd = real_##name(path, mode);                               \
    if (recording()) descriptor_opened(fd);                         \
    return fd;                                                      \
  }
SOOTH_CREAT(creat)
SOOTH_CREAT(creat64)

// Functions that give a name or take one away.
#define SOOTH_CHANGES_NAME(name, parameters, arguments, path)       \
  SOOTH_REAL static Real<int parameters> real_##name{#name};        \
  SOOTH_EXPORT int sooth_##name parameters asm(#name);              \
  int sooth_##name parameters {                                     \
    if (Thread* t = current()) name_changes(t, SOOTH_CALLER, path); \
    return real_##name arguments;                                   \
  }
SOOTH_CHANGES_NAME(unlink, (const char* path), (path), path)
SOOTH_CHANGES_NAME(unlinkat, (int folder, const char* path, int flags), (folder, path, flags), path)
SOOTH_CHANGES_NAME(remove, (const char* path), (path), path)
SOOTH_CHANGES_NAME(mkdir, (const char* path, mode_t mode), (path, mode), path)
SOOTH_CHANGES_NAME(rmdir, (const char* path), (path), path)
SOOTH_CHANGES_NAME(mkfifo, (const char* path, mode_t mode), (path, mode), path)
SOOTH_CHANGES_NAME(link, (const char* from, const char* path), (from, path), path)
SOOTH_CHANGES_NAME(symlink, (const char* from, const char* path), (from, path), path)
SOOTH_CHANGES_NAME(truncate, (const char* path, off_t size), (path, size), path)
SOOTH_CHANGES_NAME(truncate64, (const char* path, off_t size), (path, size), path)

SOOTH_INTERCEPT(int, rename, const char* from, const char* to) {
  if (Thread* t = current()) {
    name_changes(t, SOOTH_CALLER, from);
    name_changes(t, SOOTH_CALLER, to);
  }
  return real_rename(from, to);
}

// Functions that look; the size of what they fill in for their caller, or 0.
#define SOOTH_SEES_NAME(name, parameters, arguments, path, to, size)   \
  SOOTH_REAL static Real<int parameters> real_##name{#name};           \
  SOOTH_EXPORT int sooth_##name parameters asm(#name);                 \
  int sooth_##name parameters {                                        \
    int result = real_##name arguments;                                \
    if (Thread* t = current()) {                                       \
      name_seen(t, SOOTH_CALLER, path, result == 0);                   \
      if (result == 0 && size != 0) writes(t, SOOTH_CALLER, to, size); \
    }                                                                  \
    return result;                                                     \
  }
SOOTH_SEES_NAME(access, (const char* path, int mode), (path, mode), path, nullptr, 0)
SOOTH_SEES_NAME(faccessat, (int folder, const char* path, int mode, int flags), (folder, path, mode, flags), path,
                nullptr, 0)
SOOTH_SEES_NAME(stat, (const char* path, struct stat* to), (path, to), path, to, sizeof *to)
SOOTH_SEES_NAME(stat64, (const char* path, struct stat64* to), (path, to), path, to, sizeof *to)
SOOTH_SEES_NAME(lstat, (const char* path, struct stat* to), (path, to), path, to, sizeof *to)
SOOTH_SEES_NAME(lstat64, (const char* path, struct stat64* to), (path, to), path, to, sizeof *to)
SOOTH_SEES_NAME(fstatat, (int folder, const char* path, struct stat* to, int flags), (folder, path, to, flags), path,
                to, sizeof *to)
SOOTH_SEES_NAME(fstatat64, (int folder, const char* path, struct stat64* to, int flags), (folder, path, to, flags),
                path, to, sizeof *to)
// What programs call that were built before glibc 2.33.
SOOTH_SEES_NAME(__xstat, (int version, const char* path, struct stat* to), (version, path, to), path, to, sizeof *to)
SOOTH_SEES_NAME(__xstat64, (int version, const char* path, struct stat64* to), (version, path, to), path, to,
                sizeof *to)
SOOTH_SEES_NAME(__lxstat, (int version, const char* path, struct stat* to), (version, path, to), path, to, sizeof *to)
SOOTH_SEES_NAME(__lxstat64, (int version, const char* path, struct stat64* to), (version, path, to), path, to,
                sizeof *to)

// What it tells of the size comes from those who wrote.
#define SOOTH_FSTAT(name, parameters, arguments)             \
  SOOTH_REAL static Real<int parameters> real_##name{#name}; \
  SOOTH_EXPORT int sooth_##name parameters asm(#name);       \
  int sooth_##name parameters {                              \
    int result = real_##name arguments;                      \
    Thread* t = current();                                   \
    if (t != nullptr && result == 0) {                       \
      descriptor_received(t, SOOTH_CALLER, fd);              \
      writes(t, SOOTH_CALLER, to, sizeof *to);               \
    }                                                        \
    return result;                                           \
  }
SOOTH_FSTAT(fstat, (int fd, struct stat* to), (fd, to))
SOOTH_FSTAT(fstat64, (int fd, struct stat64* to), (fd, to))
SOOTH_FSTAT(__fxstat, (int version, int fd, struct stat* to), (version, fd, to))
SOOTH_FSTAT(__fxstat64, (int version, int fd, struct stat64* to), (version, fd, to))
