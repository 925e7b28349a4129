// Programs that the program becomes or starts. Each gets our library by LD_PRELOAD, whether or not it is instrumented; one
// with another sanitizer in it would not start with it, and starts without.
//
// After vfork, and in a thread of a process that forks, nothing may be allocated or locked: all memory is on the stack.
#include <dlfcn.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/foreign_program.h"
#include "runtime/intercept.h"
#include "runtime/recorder.h"

using namespace sooth::rt;

namespace {

constexpr const char* kPreload = "LD_PRELOAD=";
constexpr std::size_t kMaxPath = 4096;
SOOTH_REAL Real<char*(const char*)> real_getenv{"getenv"};

// This library, as the dynamic loader calls it: as LD_PRELOAD does.
const char* own_path_ = nullptr;
__attribute__((constructor)) void find_own_path() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&find_own_path), &info) != 0) own_path_ = info.dli_fname;
}

bool begins_with(const char* text, const char* start) {
  while (*start != 0 && *text == *start) ++text, ++start;
  return *start == 0;
}

// LD_PRELOAD without our library.
void drop_own(const char* preload, char* to, std::size_t room) {
  char* end = to + room;
  char* at = append_text(to, end, kPreload);
  bool any = false;
  for (const char* word = preload + text_length(kPreload); *word != 0;) {
    std::size_t length = 0;
    while (word[length] != 0 && word[length] != ':' && word[length] != ' ') ++length;
    bool own = length == text_length(own_path_) && begins_with(word, own_path_);
    if (!own && length != 0) {
      if (any) at = append_text(at, end, ":");
      any = true;
      for (std::size_t i = 0; i < length && at + 1 < end; ++i) *at++ = word[i];
      *at = 0;
    }
    word += length + (word[length] != 0 ? 1 : 0);
  }
}

std::size_t count_words(char* const* words) {
  std::size_t count = 0;
  while (words != nullptr && words[count] != nullptr) ++count;
  return count;
}

const char* preload_of(char* const* environment) {
  for (std::size_t i = 0; environment != nullptr && environment[i] != nullptr; ++i)
    if (begins_with(environment[i], kPreload)) return environment[i];
  return nullptr;
}

// Whether the program at this path is to start without our library, which the environment would give it.
bool starts_without(const char* path, char* const* environment) {
  if (path == nullptr || own_path_ == nullptr || preload_of(environment) == nullptr) return false;
  const char* sanitizer = foreign_sanitizer(path);
  if (sanitizer == nullptr) return false;
  if (real_getenv("SOOTH_RECORD") != nullptr) warn(path, " is not recorded: it has ", sanitizer, " in it");
  return true;
}

// The first executable file of that name in $PATH, as exec..p() finds it; the name itself if it is a path.
const char* find_program(const char* name, char* to, std::size_t room) {
  for (const char* at = name; *at != 0; ++at)
    if (*at == '/') return name;
  const char* folders = real_getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  while (true) {
    char* end = to + room;
    char* at = to;
    for (; *folders != 0 && *folders != ':'; ++folders)
      if (at + 1 < end) *at++ = *folders;
    if (at == to) *at++ = '.';
    *at = 0;
    append_text(append_text(at, end, "/"), end, name);
    if (access(to, X_OK) == 0) return to;
    if (*folders == 0) return nullptr;
    ++folders;
  }
}

// Calls `start` with the environment that the program gets.
template <typename Start>
SOOTH_INLINE int with_environment(const char* path, char* const* environment, Start start) {
  if (SOOTH_LIKELY(!starts_without(path, environment))) return start(environment);
  const char* preload = preload_of(environment);
  std::size_t count = count_words(environment), room = text_length(preload) + 1;
  auto** words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  auto* changed = static_cast<char*>(__builtin_alloca(room));
  drop_own(preload, changed, room);
  for (std::size_t i = 0; i <= count; ++i) words[i] = environment[i] == preload ? changed : environment[i];
  return start(words);
}

using Words = char* const*;

}  // namespace

SOOTH_INTERCEPT(int, execve, const char* path, Words arguments, Words environment) {
  return with_environment(path, environment, [&](Words words) { return real_execve(path, arguments, words); });
}
SOOTH_INTERCEPT(int, execvpe, const char* name, Words arguments, Words environment) {
  char found[kMaxPath];
  const char* path = name == nullptr ? nullptr : find_program(name, found, sizeof found);
  return with_environment(path, environment, [&](Words words) { return real_execvpe(name, arguments, words); });
}
SOOTH_INTERCEPT(int, execv, const char* path, Words arguments) {
  return with_environment(path, environ, [&](Words words) { return real_execve(path, arguments, words); });
}
SOOTH_INTERCEPT(int, execvp, const char* name, Words arguments) {
  char found[kMaxPath];
  const char* path = name == nullptr ? nullptr : find_program(name, found, sizeof found);
  return with_environment(path, environ, [&](Words words) { return real_execvpe(name, arguments, words); });
}
SOOTH_INTERCEPT(int, posix_spawn, pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, Words arguments, Words environment) {
  return with_environment(path, environment, [&](Words words) {
    return real_posix_spawn(child, path, actions, attributes, arguments, words);
  });
}
SOOTH_INTERCEPT(int, posix_spawnp, pid_t* child, const char* name, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, Words arguments, Words environment) {
  char found[kMaxPath];
  const char* path = name == nullptr ? nullptr : find_program(name, found, sizeof found);
  return with_environment(path, environment, [&](Words words) {
    return real_posix_spawnp(child, name, actions, attributes, arguments, words);
  });
}

// execl() and its kin: words up to a nullptr, and of one of them the environment behind it.
#define SOOTH_COLLECT_WORDS                                                          \
  va_list rest;                                                                      \
  va_start(rest, first);                                                             \
  std::size_t count = 1;                                                             \
  if (first != nullptr)                                                              \
    while (va_arg(rest, char*) != nullptr) ++count;                                  \
  va_end(rest);                                                                      \
  auto** words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  words[0] = const_cast<char*>(first);                                               \
  va_start(rest, first);                                                             \
  for (std::size_t i = 1; i <= count && first != nullptr; ++i) words[i] = va_arg(rest, char*);

#define SOOTH_EXEC_OF_WORDS(name, call, environment)                                  \
  SOOTH_EXPORT int sooth_##name(const char* path, const char* first, ...) asm(#name); \
  int sooth_##name(const char* path, const char* first, ...) {                        \
    SOOTH_COLLECT_WORDS                                                               \
    Words given = environment;                                                        \
    va_end(rest);                                                                     \
    return call(path, words, given);                                                  \
  }
SOOTH_EXEC_OF_WORDS(execl, sooth_execve, environ)
SOOTH_EXEC_OF_WORDS(execlp, sooth_execvpe, environ)
SOOTH_EXEC_OF_WORDS(execle, sooth_execve, va_arg(rest, char**))
