// Functions that a signal handler must not call, because it may have interrupted them. Freestanding: the run time library
// includes it.
#pragma once

#include <cstdint>

namespace sooth {

// By number: the object of a misuse kSignalUnsafe, so that the order is part of the trace format. 0: none of them. These
// are not all that POSIX does not call async-signal-safe, but those that take locks, allocate, or keep something between
// calls: a handler that interrupts one of them and calls another hangs, or damages what it keeps. Formatting into memory
// of the caller (snprintf) is not among them.
inline constexpr const char* kUnsafeCalls[] = {
    "",
    // The heap.
    "malloc", "calloc", "realloc", "reallocarray", "free", "memalign", "aligned_alloc", "valloc", "pvalloc",
    "posix_memalign", "operator new", "operator delete", "strdup", "strndup", "wcsdup", "asprintf", "vasprintf",
    // Streams.
    "printf", "vprintf", "fprintf", "vfprintf", "scanf", "vscanf", "fscanf", "vfscanf", "fread", "fwrite", "fgets",
    "fputs", "puts", "fgetc", "getc", "fputc", "putc", "getline", "getdelim", "fflush", "fopen", "fclose", "freopen",
    "popen", "pclose", "tmpfile",
    // Locks and threads.
    "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
    "pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast", "pthread_barrier_wait", "pthread_create",
    "pthread_join", "pthread_once",
    // The end of the process.
    "exit", "atexit", "quick_exit",
    // Time zones, locales, what the system knows of names.
    "asctime", "ctime", "ctime_r", "gmtime", "localtime", "localtime_r", "mktime", "strftime", "setlocale", "getpwnam",
    "getpwuid", "getpwent", "getgrnam", "getgrgid", "getgrent", "gethostbyname", "gethostbyaddr", "getaddrinfo",
    "getnameinfo",
    // Folders, patterns, and results that live in one place.
    "opendir", "readdir", "closedir", "scandir", "glob", "regcomp", "regexec", "realpath", "qsort", "strtok", "tmpnam",
    "ttyname", "inet_ntoa", "backtrace_symbols"};
inline constexpr std::uint64_t kUnsafeCallCount = sizeof kUnsafeCalls / sizeof *kUnsafeCalls;
// Added to the number where the handler is one of a signal that ends the program (SIGSEGV, SIGABRT, ...): it has little to
// lose, and many print a stack then.
inline constexpr std::uint64_t kInCrashHandler = 1u << 16;

// The length of `word` if `text` starts with it, else 0.
constexpr unsigned leading(const char* text, const char* word) {
  unsigned n = 0;
  while (word[n] != 0) {
    if (text[n] != word[n]) {
      return 0;
    }
    ++n;
  }
  return n;
}

// Whether `name` is `known`, or what headers turn it into: __printf_chk, __isoc99_scanf, fopen64.
constexpr bool is_form_of(const char* name, const char* known) {
  name += leading(name, "__");
  name += leading(name, "isoc99_");
  name += leading(name, "isoc23_");
  const unsigned n = leading(name, known);
  const char* rest = name + n;
  return n > 0 &&
         (*rest == 0 || (leading(rest, "_chk") == 4 && rest[4] == 0) || (leading(rest, "64") == 2 && rest[2] == 0));
}

consteval std::uint64_t unsafe_call(const char* name) {
  for (std::uint64_t number = kUnsafeCallCount - 1; number > 0; --number) {
    if (is_form_of(name, kUnsafeCalls[number])) {
      return number;
    }
  }
  return 0;
}
static_assert(unsafe_call("malloc") == 1 && unsafe_call("__printf_chk") == unsafe_call("printf") &&
              unsafe_call("__isoc99_fscanf") == unsafe_call("fscanf") && unsafe_call("snprintf") == 0);

}  // namespace sooth
