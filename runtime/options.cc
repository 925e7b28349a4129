#include "runtime/options.h"

#include <fcntl.h>
#include <sys/auxv.h>

namespace sooth::rt {

Options options;

namespace {

// Of /proc/self/environ: what the process was started with. libc's environ does not exist yet when __tsan_init runs.
char* environment_ = nullptr;
std::size_t environment_bytes_ = 0;

void load_environment() {
  long fd = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/environ"), O_RDONLY | O_CLOEXEC);
  constexpr std::size_t kRoom = std::size_t{4} << 20;
  environment_ = static_cast<char*>(map_memory(kRoom));
  if (fd < 0 || environment_ == nullptr) return;
  while (environment_bytes_ + 1 < kRoom) {
    long n = sys_call(SYS_read, fd, reinterpret_cast<long>(environment_ + environment_bytes_),
                      static_cast<long>(kRoom - 1 - environment_bytes_));
    if (n <= 0) break;
    environment_bytes_ += static_cast<std::size_t>(n);
  }
  sys_call(SYS_close, fd);
}

// Known to ThreadSanitizer, but about things that happen elsewhere here (in reports, in its shadow memory) or not at
// all.
struct Flag {
  const char* name;
  const char* instead;
};
constexpr Flag kTsanOnly[] = {
#define SOOTH_TSAN_FLAG(name, instead) {#name, instead},
#define SOOTH_COMMAND_FLAG(name, instead)
#include "launch/tsan_flags.inc"
#undef SOOTH_COMMAND_FLAG
#undef SOOTH_TSAN_FLAG
};
constexpr Flag kForCommands[] = {
#define SOOTH_TSAN_FLAG(name, instead)
#define SOOTH_COMMAND_FLAG(name, meaning) {#name, meaning},
#include "launch/tsan_flags.inc"
#undef SOOTH_COMMAND_FLAG
#undef SOOTH_TSAN_FLAG
};

bool same(const char* text, std::size_t length, const char* name) {
  for (std::size_t i = 0; i < length; ++i)
    if (name[i] == 0 || text[i] != name[i]) return false;
  return name[length] == 0;
}

bool parse(const char* value, std::size_t length, bool& out) {
  bool yes = same(value, length, "1") || same(value, length, "true") || same(value, length, "yes");
  if (!yes && !same(value, length, "0") && !same(value, length, "false") && !same(value, length, "no")) return false;
  out = yes;
  return true;
}

bool parse(const char* value, std::size_t length, Options::number& out) {
  Options::number n = 0;
  if (length == 0 || length > 18) return false;
  for (std::size_t i = 0; i < length; ++i) {
    if (value[i] < '0' || value[i] > '9') return false;
    n = n * 10 + (value[i] - '0');
  }
  out = n;
  return true;
}

bool parse(const char* value, std::size_t length, Options::text& out) {
  auto* copy = static_cast<char*>(map_memory(length + 1));
  if (copy == nullptr) return false;
  copy_memory(copy, value, length);
  out = copy;
  return true;
}

void warn_about(const char* what, const char* where, const char* text, std::size_t length) {
  char copy[128];
  std::size_t n = length < sizeof copy - 1 ? length : sizeof copy - 1;
  copy_memory(copy, text, n);
  copy[n] = 0;
  warn(what, copy, " in ", where);
}

void set_option(const char* where, const char* name, std::size_t name_length, const char* value,
                std::size_t value_length) {
#define SOOTH_OPTION(type, option, initial, description)                                                    \
  if (same(name, name_length, #option)) {                                                                   \
    if (!parse(value, value_length, options.option)) warn_about("bad value of ", where, name, name_length); \
    return;                                                                                                 \
  }
#include "runtime/options.inc"
#undef SOOTH_OPTION
  for (const Flag& known : kTsanOnly)
    if (same(name, name_length, known.name)) return;
  for (const Flag& known : kForCommands)
    if (same(name, name_length, known.name)) return;
  warn_about("unknown option ", where, name, name_length);
}

bool is_separator(char c) { return c == ':' || c == ',' || c == ' ' || c == '\n' || c == '\t'; }

// key=value, separated as ThreadSanitizer allows it; a value may be in quotes.
using SetOption = void(const char*, const char*, std::size_t, const char*, std::size_t);
void parse_list(const char* where, const char* text, SetOption* set) {
  while (text != nullptr && *text != 0) {
    while (is_separator(*text)) ++text;
    const char* name = text;
    while (*text != 0 && *text != '=' && !is_separator(*text)) ++text;
    if (*text != '=') {
      if (text != name) warn_about("no value for ", where, name, static_cast<std::size_t>(text - name));
      continue;
    }
    auto name_length = static_cast<std::size_t>(text++ - name);
    char quote = *text == '\'' || *text == '"' ? *text++ : 0;
    const char* value = text;
    while (*text != 0 && (quote != 0 ? *text != quote : !is_separator(*text))) ++text;
    set(where, name, name_length, value, static_cast<std::size_t>(text - value));
    if (quote != 0 && *text == quote) ++text;
  }
}

// verbosity=1.
void tell_of_flag(const char*, const char* name, std::size_t name_length, const char*, std::size_t) {
  for (const Flag& known : kTsanOnly)
    if (same(name, name_length, known.name)) warn("the flag ", known.name, " does nothing here; ", known.instead);
}

void print_help() {
#define SOOTH_OPTION(type, name, initial, description) warn("  " #name "=" #initial "  (" #type ") ", description);
#include "runtime/options.inc"
#undef SOOTH_OPTION
  warn("flags that commands read:");
  for (const Flag& flag : kForCommands) warn("  ", flag.name, ": ", flag.instead);
  warn("flags of ThreadSanitizer that do nothing here:");
  for (const Flag& flag : kTsanOnly) warn("  ", flag.name, ": ", flag.instead);
}

}  // namespace

const char* environment(const char* name) {
  // Whoever starts a program that has more rights than himself must not say what it writes, and where.
  if (getauxval(AT_SECURE) != 0) return nullptr;
  if (environment_ == nullptr) load_environment();
  std::size_t length = text_length(name);
  for (std::size_t at = 0; at < environment_bytes_;) {
    const char* entry = environment_ + at;
    std::size_t i = 0;
    while (i < length && entry[i] == name[i]) ++i;
    if (i == length && entry[i] == '=') return entry + i + 1;
    at += text_length(entry) + 1;
  }
  return nullptr;
}

void parse_options(const char* defaults, const char* tsan, const char* sooth) {
  parse_list("__tsan_default_options", defaults, set_option);
  parse_list("TSAN_OPTIONS", tsan, set_option);
  parse_list("SOOTH_OPTIONS", sooth, set_option);
  if (options.verbosity > 0)
    for (const char* list : {defaults, tsan, sooth}) parse_list("", list, tell_of_flag);
  if (options.help) print_help();
}

}  // namespace sooth::rt
