// Folders, links, file systems and terminals: what is told of them.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include "runtime/descriptors.h"
#include "runtime/on_behalf.h"
#include "runtime/paths.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// Whoever looks at a name comes behind those that gave it, or took it away.
void seen(const OnBehalf& on, const char* path, bool found) {
  if (path != nullptr) name_seen(on.thread(), on.pc(), path, found);
}

// A folder has a descriptor of its own, which ends with it.
void opened(DIR* folder) {
  if (folder != nullptr) descriptor_opened(dirfd(folder));
}
void uses(const OnBehalf& on, DIR* folder) {
  if (on && folder != nullptr) descriptor_used(on.thread(), on.pc(), dirfd(folder));
}
// What libc frees is freed by whoever closes the folder.
void closes(const OnBehalf& on, DIR* folder) {
  if (!on) return;
  if (folder != nullptr) {
    descriptor_closes(on.thread(), on.pc(), dirfd(folder));
    descriptor_closed(dirfd(folder));
    block_freed(folder, on.pc());
  }
  ++on.thread()->ignore_writes;
}

template <typename Entry>
void entry(const OnBehalf& on, const Entry* p) {
  if (p != nullptr) on.out(p, p->d_reclen);
}
template <typename Entry>
void entries(const OnBehalf& on, Entry** const* to, int n) {
  if (n < 0) return;
  on.out(to);
  on.out(*to, static_cast<std::size_t>(n) * sizeof **to);
  for (int i = 0; i < n; ++i) entry(on, (*to)[i]);
}

std::size_t size(ssize_t n) { return static_cast<std::size_t>(n); }

}  // namespace

// Family libc_folders: entries of folders. One that was read stays until the next is read from the same folder.
SOOTH_ON_BEHALF(DIR*, opendir, (const char* path), (path), on.text(path), opened(r), seen(on, path, r != nullptr))
SOOTH_ON_BEHALF(int, closedir, (DIR * folder), (folder), closes(on, folder), --on.thread()->ignore_writes)
SOOTH_ON_BEHALF(dirent*, readdir, (DIR * folder), (folder), uses(on, folder), entry(on, r))
SOOTH_ON_BEHALF(dirent64*, readdir64, (DIR * folder), (folder), uses(on, folder), entry(on, r))
SOOTH_ON_BEHALF(int, readdir_r, (DIR * folder, dirent* to, dirent** found), (folder, to, found), uses(on, folder),
                if (r == 0) on.out(found);
                if (r == 0) entry(on, *found))
SOOTH_ON_BEHALF(int, readdir64_r, (DIR * folder, dirent64* to, dirent64** found), (folder, to, found), uses(on, folder),
                if (r == 0) on.out(found);
                if (r == 0) entry(on, *found))
SOOTH_ON_BEHALF(int, scandir,
                (const char* path, dirent*** to, int (*wanted)(const dirent*),
                 int (*compare)(const dirent**, const dirent**)),
                (path, to, wanted, compare), on.text(path), seen(on, path, r >= 0);
                entries(on, to, r))
SOOTH_ON_BEHALF(int, scandir64,
                (const char* path, dirent64*** to, int (*wanted)(const dirent64*),
                 int (*compare)(const dirent64**, const dirent64**)),
                (path, to, wanted, compare), on.text(path), seen(on, path, r >= 0);
                entries(on, to, r))

// Family libc_paths: where names lead to.
SOOTH_ON_BEHALF(char*, realpath, (const char* path, char* to), (path, to), on.text(path), seen(on, path, r != nullptr);
                on.out_text(r))
SOOTH_ON_BEHALF(char*, __realpath_chk, (const char* path, char* to, std::size_t room), (path, to, room), on.text(path),
                seen(on, path, r != nullptr);
                on.out_text(r))
SOOTH_ON_BEHALF(char*, canonicalize_file_name, (const char* path), (path), on.text(path), seen(on, path, r != nullptr);
                on.out_text(r))
SOOTH_ON_BEHALF(ssize_t, readlink, (const char* path, char* to, std::size_t n), (path, to, n), on.text(path),
                seen(on, path, r >= 0);
                if (r > 0) on.out(to, size(r)))
SOOTH_ON_BEHALF(ssize_t, readlinkat, (int folder, const char* path, char* to, std::size_t n), (folder, path, to, n),
                on.text(path), seen(on, path, r >= 0);
                if (r > 0) on.out(to, size(r)))
SOOTH_ON_BEHALF(char*, getcwd, (char* to, std::size_t n), (to, n), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(char*, get_current_dir_name, (void), (), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(char*, tempnam, (const char* folder, const char* start), (folder, start), on.text(folder);
                on.text(start), on.out_text(r))
SOOTH_ON_BEHALF(char*, tmpnam, (char* to), (to), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(char*, tmpnam_r, (char* to), (to), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(int, mkstemp, (char* path), (path), on.text(path), on.out_text(path); descriptor_opened(r))
SOOTH_ON_BEHALF(int, mkstemp64, (char* path), (path), on.text(path), on.out_text(path); descriptor_opened(r))
SOOTH_ON_BEHALF(char*, mkdtemp, (char* path), (path), on.text(path), on.out_text(r))
SOOTH_ON_BEHALF(int, chdir, (const char* path), (path), on.text(path))

// Family libc_file_systems: file systems, further attributes of files, handles.
#define SOOTH_STATFS(name, type, what, tells) \
  SOOTH_ON_BEHALF(int, name, (what at, type * to), (at, to), tells, if (r == 0) on.out(to))
SOOTH_STATFS(statfs, struct statfs, const char*, on.text(at))
SOOTH_STATFS(statfs64, struct statfs64, const char*, on.text(at))
SOOTH_STATFS(fstatfs, struct statfs, int, (void)0)
SOOTH_STATFS(fstatfs64, struct statfs64, int, (void)0)
SOOTH_STATFS(statvfs, struct statvfs, const char*, on.text(at))
SOOTH_STATFS(statvfs64, struct statvfs64, const char*, on.text(at))
SOOTH_STATFS(fstatvfs, struct statvfs, int, (void)0)
SOOTH_STATFS(fstatvfs64, struct statvfs64, int, (void)0)
#define SOOTH_GETXATTR(name, what, tells)                                                                      \
  SOOTH_ON_BEHALF(ssize_t, name, (what at, const char* key, void* to, std::size_t n), (at, key, to, n), tells; \
                  on.text(key), if (r > 0 && n > 0) on.out(to, size(r)))
SOOTH_GETXATTR(getxattr, const char*, on.text(at))
SOOTH_GETXATTR(lgetxattr, const char*, on.text(at))
SOOTH_GETXATTR(fgetxattr, int, (void)0)
#define SOOTH_LISTXATTR(name, what, tells)                                               \
  SOOTH_ON_BEHALF(ssize_t, name, (what at, char* to, std::size_t n), (at, to, n), tells, \
                  if (r > 0 && n > 0) on.out(to, size(r)))
SOOTH_LISTXATTR(listxattr, const char*, on.text(at))
SOOTH_LISTXATTR(llistxattr, const char*, on.text(at))
SOOTH_LISTXATTR(flistxattr, int, (void)0)
SOOTH_ON_BEHALF(int, name_to_handle_at, (int folder, const char* path, file_handle* to, int* mount, int flags),
                (folder, path, to, mount, flags), on.text(path);
                on.in(to), if (r == 0) on.out(to, sizeof *to + to->handle_bytes); on.out(mount))
SOOTH_ON_BEHALF(int, open_by_handle_at, (int mount, file_handle* handle, int flags), (mount, handle, flags),
                if (on) on.in(handle, sizeof *handle + handle->handle_bytes), descriptor_opened(r))

// Family libc_terminals: names and settings of terminals, and what devices tell.
SOOTH_ON_BEHALF(char*, ctermid, (char* to), (to), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(char*, ttyname, (int fd), (fd), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(int, ttyname_r, (int fd, char* to, std::size_t n), (fd, to, n), (void)0, if (r == 0) on.out_text(to))
SOOTH_ON_BEHALF(char*, ptsname, (int fd), (fd), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(int, ptsname_r, (int fd, char* to, std::size_t n), (fd, to, n), (void)0, if (r == 0) on.out_text(to))
SOOTH_ON_BEHALF(int, tcgetattr, (int fd, termios* to), (fd, to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, tcsetattr, (int fd, int when, const termios* from), (fd, when, from), on.in(from))

// Most requests carry the size of their argument and who fills it in. Of those from before that custom, the usual ones.
static std::size_t argument_size(unsigned long request, bool writes) {
  switch (request) {
    case TCGETS: return writes ? sizeof(termios) : 0;
    case TCSETS:
    case TCSETSW:
    case TCSETSF: return writes ? 0 : sizeof(termios);
    case TIOCGWINSZ: return writes ? sizeof(winsize) : 0;
    case TIOCSWINSZ: return writes ? 0 : sizeof(winsize);
    case FIONREAD:
    case TIOCGPGRP:
    case TIOCOUTQ: return writes ? sizeof(int) : 0;
    case FIONBIO:
    case FIOASYNC:
    case TIOCSPGRP: return writes ? 0 : sizeof(int);
    default: break;
  }
  bool applies = (_IOC_DIR(request) & (writes ? _IOC_READ : _IOC_WRITE)) != 0;
  return applies ? _IOC_SIZE(request) : 0;
}
SOOTH_REAL static Real<int(int, unsigned long, void*)> real_ioctl{"ioctl"};
SOOTH_EXPORT int sooth_ioctl(int fd, unsigned long request, ...) asm("ioctl");
int sooth_ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  if (on) on.in(argument, argument_size(request, false));
  int result = real_ioctl(fd, request, argument);
  if (on && result >= 0) on.out(argument, argument_size(request, true));
  return result;
}
