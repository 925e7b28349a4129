// Format strings of printf and scanf: which memory their arguments name.
#pragma once

#include <stdarg.h>

#include "runtime/on_behalf.h"

namespace sooth::rt {

// Before the output: the format itself and the strings it prints (%s) are read. Consumes a copy of `arguments`.
void printf_reads(const OnBehalf& on, const char* format, va_list arguments);
// After the output: where %n has written.
void printf_writes(const OnBehalf& on, const char* format, va_list arguments);
// After the input: what the first `assigned` conversions have filled in. Consumes a copy of `arguments`.
void scanf_writes(const OnBehalf& on, const char* format, va_list arguments, int assigned);

}  // namespace sooth::rt
