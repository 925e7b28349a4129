// Users, groups, who is logged in, mounted file systems.
#include <grp.h>
#include <mntent.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

void entry(const OnBehalf& on, const passwd* p) {
  if (p == nullptr) return;
  on.out(p);
  for (const char* text : {p->pw_name, p->pw_passwd, p->pw_gecos, p->pw_dir, p->pw_shell}) on.out_text(text);
}

void entry(const OnBehalf& on, const group* p) {
  if (p == nullptr) return;
  on.out(p);
  on.out_text(p->gr_name);
  on.out_text(p->gr_passwd);
  on.out_texts(p->gr_mem);
}

void entry(const OnBehalf& on, const mntent* p) {
  if (p == nullptr) return;
  on.out(p);
  for (const char* text : {p->mnt_fsname, p->mnt_dir, p->mnt_type, p->mnt_opts}) on.out_text(text);
}

}  // namespace

// Family libc_accounts: those without _r return memory that all threads share.
#define SOOTH_ENTRY(type, name, parameters, arguments, before) \
  SOOTH_ON_BEHALF(type*, name, parameters, arguments, before, SOOTH_NAME_RESULT(name); entry(on, r))
#define SOOTH_ENTRY_R(name, parameters, arguments, before) \
  SOOTH_ON_BEHALF(int, name, parameters, arguments, before, on.out(found); if (r == 0) entry(on, *found))
SOOTH_ENTRY(passwd, getpwnam, (const char* name), (name), on.text(name))
SOOTH_ENTRY(passwd, getpwuid, (uid_t id), (id), (void)0)
SOOTH_ENTRY(passwd, getpwent, (void), (), (void)0)
SOOTH_ENTRY(passwd, fgetpwent, (FILE * file), (file), (void)0)
SOOTH_ENTRY(group, getgrnam, (const char* name), (name), on.text(name))
SOOTH_ENTRY(group, getgrgid, (gid_t id), (id), (void)0)
SOOTH_ENTRY(group, getgrent, (void), (), (void)0)
SOOTH_ENTRY(group, fgetgrent, (FILE * file), (file), (void)0)
SOOTH_ENTRY(mntent, getmntent, (FILE * file), (file), (void)0)
SOOTH_ON_BEHALF(mntent*, getmntent_r, (FILE * file, mntent* to, char* room, int n), (file, to, room, n), (void)0,
                entry(on, r))
SOOTH_ENTRY_R(getpwnam_r, (const char* name, passwd* to, char* room, std::size_t n, passwd** found),
              (name, to, room, n, found), on.text(name))
SOOTH_ENTRY_R(getpwuid_r, (uid_t id, passwd* to, char* room, std::size_t n, passwd** found), (id, to, room, n, found),
              (void)0)
SOOTH_ENTRY_R(getpwent_r, (passwd * to, char* room, std::size_t n, passwd** found), (to, room, n, found), (void)0)
SOOTH_ENTRY_R(fgetpwent_r, (FILE * file, passwd* to, char* room, std::size_t n, passwd** found),
              (file, to, room, n, found), (void)0)
SOOTH_ENTRY_R(getgrnam_r, (const char* name, group* to, char* room, std::size_t n, group** found),
              (name, to, room, n, found), on.text(name))
SOOTH_ENTRY_R(getgrgid_r, (gid_t id, group* to, char* room, std::size_t n, group** found), (id, to, room, n, found),
              (void)0)
SOOTH_ENTRY_R(getgrent_r, (group * to, char* room, std::size_t n, group** found), (to, room, n, found), (void)0)
SOOTH_ENTRY_R(fgetgrent_r, (FILE * file, group* to, char* room, std::size_t n, group** found),
              (file, to, room, n, found), (void)0)
SOOTH_ON_BEHALF(int, getgrouplist, (const char* user, gid_t group, gid_t* to, int* n), (user, group, to, n),
                on.text(user);
                on.in(n), on.out(n); if (r >= 0) on.out(to, static_cast<std::size_t>(r) * sizeof *to))
SOOTH_ON_BEHALF(int, getgroups, (int n, gid_t* to), (n, to), (void)0,
                if (n > 0 && r > 0) on.out(to, static_cast<std::size_t>(r) * sizeof *to))
SOOTH_ON_BEHALF(int, initgroups, (const char* user, gid_t group), (user, group), on.text(user))
SOOTH_ON_BEHALF(int, getresuid, (uid_t * real, uid_t* effective, uid_t* saved), (real, effective, saved), (void)0,
                on.out(real);
                on.out(effective); on.out(saved))
SOOTH_ON_BEHALF(int, getresgid, (gid_t * real, gid_t* effective, gid_t* saved), (real, effective, saved), (void)0,
                on.out(real);
                on.out(effective); on.out(saved))
SOOTH_ON_BEHALF(char*, getusershell, (void), (), (void)0, on.out_text(r))
SOOTH_ON_BEHALF_WAITING(char*, getpass, (const char* prompt), (prompt), on.text(prompt), on.out_text(r))
SOOTH_ON_BEHALF(utmp*, getutent, (void), (), (void)0, on.out(r))
SOOTH_ON_BEHALF(utmp*, getutid, (const utmp* like), (like), on.in(like), on.out(r))
SOOTH_ON_BEHALF(utmp*, getutline, (const utmp* like), (like), on.in(like), on.out(r))
SOOTH_ON_BEHALF(utmpx*, getutxent, (void), (), (void)0, on.out(r))
SOOTH_ON_BEHALF(utmpx*, getutxid, (const utmpx* like), (like), on.in(like), on.out(r))
SOOTH_ON_BEHALF(utmpx*, getutxline, (const utmpx* like), (like), on.in(like), on.out(r))
SOOTH_ON_BEHALF(utmpx*, pututxline, (const utmpx* entry), (entry), on.in(entry), on.out(r))
// libcrypt's.
SOOTH_ON_BEHALF(char*, crypt, (const char* key, const char* salt), (key, salt), on.text(key);
                on.text(salt), on.out_text(r))
SOOTH_ON_BEHALF(char*, crypt_r, (const char* key, const char* salt, void* data), (key, salt, data), on.text(key);
                on.text(salt), on.out_text(r))
