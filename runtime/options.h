// The options of the run time library: one table, options.inc, makes the struct, the parser and the help text.
#pragma once

#include "runtime/sys.h"

namespace sooth::rt {

struct Options {
  using number = long;
  using text = const char*;
#define SOOTH_OPTION(type, name, value, description) type name = value;
#include "runtime/options.inc"
#undef SOOTH_OPTION
};

extern Options options;

// From `__tsan_default_options()` of the program, then TSAN_OPTIONS, then SOOTH_OPTIONS: the last one wins. Keys of
// ThreadSanitizer that have no meaning here are ignored silently, others that are unknown are warned about once.
// `defaults`, `tsan` and `sooth` may be nullptr; they must stay in memory.
void parse_options(const char* defaults, const char* tsan, const char* sooth);

// The value of a variable of the environment the process was started with, or nullptr. Works before libc is
// initialised.
const char* environment(const char* name);

}  // namespace sooth::rt
