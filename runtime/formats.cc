#include "runtime/formats.h"

#include <wchar.h>

namespace sooth::rt {
namespace {

// `hh`, `h`, none, `l`, `ll` and what has its size, `L`.
enum class Length { kByte, kShort, kNone, kLong, kLongLong, kLongDouble };

struct Directive {
  const char* next;    // behind it
  bool is_positional;  // %1$s: arguments are not in order
  bool is_skipped;     // scanf's *
  bool allocates;      // scanf's m
  int stars;           // width and precision that are arguments: of printf
  bool precision_is_star;
  long width, precision;  // -1: none
  Length length;
  char conversion;  // 0: the format ends in the middle
};

long number_at(const char*& p) {
  if (*p < '0' || *p > '9') return -1;
  long n = 0;
  for (; *p >= '0' && *p <= '9'; ++p) n = n < 100'000'000 ? n * 10 + (*p - '0') : n;
  return n;
}

bool is_one_of(char c, const char* set) {
  for (; *set != 0; ++set)
    if (*set == c) return true;
  return false;
}

Length length_at(const char*& p) {
  switch (*p) {
    case 'h':
      if (*++p != 'h') return Length::kShort;
      ++p;
      return Length::kByte;
    case 'l':
      if (*++p != 'l') return Length::kLong;
      ++p;
      return Length::kLongLong;
    case 'q':
    case 'j':
    case 'z':
    case 'Z':
    case 't': ++p; return Length::kLongLong;
    case 'L': ++p; return Length::kLongDouble;
    default: return Length::kNone;
  }
}

// `p` is behind the %.
Directive parse(const char* p, bool scans) {
  Directive d = {};
  d.width = d.precision = -1;
  const char* start = p;
  if (number_at(p) >= 0 && *p == '$') {
    d.is_positional = true;
    return d;
  }
  p = start;
  if (scans) {
    if (*p == '*') d.is_skipped = true, ++p;
    if (*p == '\'') ++p;
    d.width = number_at(p);
    if (*p == 'm') d.allocates = true, ++p;
  } else {
    while (is_one_of(*p, "-+ #0'I") && *p != 0) ++p;
    if (*p == '*')
      ++d.stars, ++p;
    else
      d.width = number_at(p);
    if (*p == '.') {
      ++p;
      if (*p == '*')
        ++d.stars, ++p, d.precision_is_star = true;
      else if ((d.precision = number_at(p)) < 0)
        d.precision = 0;
    }
  }
  d.length = length_at(p);
  d.conversion = *p;
  if (*p != 0) ++p;
  if (scans && d.conversion == '[') {
    if (*p == '^') ++p;
    if (*p == ']') ++p;
    while (*p != 0 && *p != ']') ++p;
    if (*p != 0) ++p;
  }
  d.next = p;
  return d;
}

std::size_t integer_size(Length length) {
  switch (length) {
    case Length::kByte: return 1;
    case Length::kShort: return 2;
    case Length::kNone: return 4;
    case Length::kLong:
    case Length::kLongLong:
    case Length::kLongDouble: return 8;
  }
  return 4;
}

// Goes through the directives; `seen` tells of each whether to go on.
template <typename Seen>
void for_each_directive(const char* format, bool scans, Seen seen) {
  for (const char* p = format; *p != 0;) {
    if (*p++ != '%') continue;
    if (*p == '%') {
      ++p;
      continue;
    }
    Directive d = parse(p, scans);
    if (d.is_positional || d.conversion == 0 || !seen(d)) return;
    p = d.next;
  }
}

void printf_accesses(const OnBehalf& on, const char* format, va_list from, bool before) {
  va_list arguments;
  va_copy(arguments, from);
  for_each_directive(format, false, [&](Directive d) {
    for (int i = 0; i < d.stars; ++i) {
      int value = va_arg(arguments, int);
      if (d.precision_is_star && i == d.stars - 1) d.precision = value;
    }
    std::size_t limit = d.precision < 0 ? ~std::size_t{0} : static_cast<std::size_t>(d.precision);
    bool is_wide = d.length == Length::kLong || d.conversion == 'S';
    switch (d.conversion) {
      case 'd':
      case 'i':
      case 'o':
      case 'u':
      case 'x':
      case 'X':
      case 'b':
      case 'B':
      case 'c':
      case 'C':
        if (integer_size(d.length) == 8)
          va_arg(arguments, long);
        else
          va_arg(arguments, int);
        return true;
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (d.length == Length::kLongDouble)
          va_arg(arguments, long double);
        else
          va_arg(arguments, double);
        return true;
      case 's':
      case 'S': {
        const void* s = va_arg(arguments, const void*);
        if (!before) return true;
        if (is_wide)
          on.text(static_cast<const wchar_t*>(s), limit);
        else
          on.text(static_cast<const char*>(s), limit);
        return true;
      }
      case 'n': {
        const void* p = va_arg(arguments, const void*);
        if (!before) on.out(p, integer_size(d.length));
        return true;
      }
      case 'p': va_arg(arguments, void*); return true;
      case 'm': return true;
      default: return false;
    }
  });
  va_end(arguments);
}

}  // namespace

void printf_reads(const OnBehalf& on, const char* format, va_list arguments) {
  if (!on || format == nullptr) return;
  on.text(format);
  printf_accesses(on, format, arguments, true);
}

void printf_writes(const OnBehalf& on, const char* format, va_list arguments) {
  if (!on || format == nullptr) return;
  for (const char* p = format; *p != 0; ++p)
    if (*p == 'n') return printf_accesses(on, format, arguments, false);
}

void scanf_writes(const OnBehalf& on, const char* format, va_list from, int assigned) {
  if (!on || format == nullptr) return;
  va_list arguments;
  va_copy(arguments, from);
  for_each_directive(format, true, [&](const Directive& d) {
    if (d.is_skipped) return true;
    if (d.conversion != 'n' && assigned-- <= 0) return false;
    auto* to = va_arg(arguments, void*);
    bool is_wide = d.length == Length::kLong || d.conversion == 'S' || d.conversion == 'C';
    std::size_t unit = is_wide ? sizeof(wchar_t) : 1;
    const void* filled = to;
    if (d.allocates) {
      on.out(to, sizeof(void*));
      filled = *static_cast<void**>(to);
    }
    switch (d.conversion) {
      case 'd':
      case 'i':
      case 'o':
      case 'u':
      case 'x':
      case 'X':
      case 'b':
      case 'n': on.out(to, integer_size(d.length)); return true;
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        on.out(to, d.length == Length::kLongDouble ? sizeof(long double)
                   : d.length == Length::kNone     ? sizeof(float)
                                                   : sizeof(double));
        return true;
      case 's':
      case 'S':
      case '[':
        if (is_wide)
          on.out_text(static_cast<const wchar_t*>(filled));
        else
          on.out_text(static_cast<const char*>(filled));
        return true;
      case 'c':
      case 'C': on.out(filled, (d.width < 0 ? 1 : static_cast<std::size_t>(d.width)) * unit); return true;
      case 'p': on.out(to, sizeof(void*)); return true;
      default: return false;
    }
  });
  va_end(arguments);
}

}  // namespace sooth::rt
