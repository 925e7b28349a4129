// Text: numbers in it, words of it, other encodings of it.
#include <iconv.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

// Family libc_numbers: read as far as the number goes, and the character behind it.
static void number_read(const OnBehalf& on, const char* s, char** end, const char* stop, int base) {
  // Of others nothing is read, and no end is set.
  if (base != 0 && (base < 2 || base > 36)) return;
  on.in(s, static_cast<std::size_t>((end != nullptr ? *end : stop) - s) + 1);
  on.out(end);
}
#define SOOTH_NUMBER(result, name)                                                                                    \
  SOOTH_ON_BEHALF(result, name, (const char* s, char** end), (s, end != nullptr ? end : &stop), char* stop = nullptr, \
                  number_read(on, s, end, stop, 10))
#define SOOTH_INTEGER(result, name)                                                                             \
  SOOTH_ON_BEHALF(result, name, (const char* s, char** end, int base), (s, end != nullptr ? end : &stop, base), \
                  char* stop = nullptr, number_read(on, s, end, stop, base))
SOOTH_NUMBER(double, strtod)
SOOTH_NUMBER(float, strtof)
SOOTH_NUMBER(long double, strtold)
SOOTH_INTEGER(long, strtol)
SOOTH_INTEGER(unsigned long, strtoul)
SOOTH_INTEGER(long long, strtoll)
SOOTH_INTEGER(unsigned long long, strtoull)
SOOTH_INTEGER(intmax_t, strtoimax)
SOOTH_INTEGER(uintmax_t, strtoumax)
SOOTH_INTEGER(long, __isoc23_strtol)
SOOTH_INTEGER(unsigned long, __isoc23_strtoul)
SOOTH_INTEGER(long long, __isoc23_strtoll)
SOOTH_INTEGER(unsigned long long, __isoc23_strtoull)
SOOTH_INTEGER(intmax_t, __isoc23_strtoimax)
SOOTH_INTEGER(uintmax_t, __isoc23_strtoumax)
SOOTH_ON_BEHALF(int, atoi, (const char* s), (s), on.text(s))
SOOTH_ON_BEHALF(long, atol, (const char* s), (s), on.text(s))
SOOTH_ON_BEHALF(long long, atoll, (const char* s), (s), on.text(s))
SOOTH_ON_BEHALF(double, atof, (const char* s), (s), on.text(s))

// Family libc_words: tokens, which end with a zero that is written into the text; keys to sort by; messages.
// `r`: a token of a text that goes on at `rest`, if it does not end with the token.
static void token_found(const OnBehalf& on, const char* start, const char* r, const char* rest) {
  if (start == nullptr) return;
  if (r == nullptr) return on.text(start);
  std::size_t length = length_of(r);
  on.in(start, static_cast<std::size_t>(r - start) + length + 1);
  if (rest > r + length) on.out(r + length, 1);
}
SOOTH_ON_BEHALF(char*, strtok_r, (char* s, const char* ends, char** rest), (s, ends, rest), on.text(ends);
                const char* start = s != nullptr ? s : *rest;
                s == nullptr ? on.in(rest) : (void)0, token_found(on, start, r, *rest); on.out(rest))
// The rest is in memory that all threads share: here instead of in libc.
static char* strtok_rest_;
static KeptByLibc strtok_{"state of strtok()"};
SOOTH_EXPORT char* sooth_strtok(char* s, const char* ends) asm("strtok");
char* sooth_strtok(char* s, const char* ends) {
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  on.text(ends);
  if (s == nullptr) on.in(&strtok_rest_, strtok_);
  const char* start = s != nullptr ? s : strtok_rest_;
  char* r = real_strtok_r(s, ends, &strtok_rest_);
  token_found(on, start, r, strtok_rest_);
  on.out(&strtok_rest_, strtok_);
  return r;
}
SOOTH_ON_BEHALF(char*, strsep, (char** rest, const char* ends), (rest, ends), on.text(ends);
                on.in(rest), token_found(on, r, r, *rest); on.out(rest))
SOOTH_ON_BEHALF(std::size_t, strxfrm, (char* to, const char* from, std::size_t n), (to, from, n), on.text(from),
                if (r < n) on.out(to, r + 1))
SOOTH_ON_BEHALF(std::size_t, strxfrm_l, (char* to, const char* from, std::size_t n, locale_t locale),
                (to, from, n, locale), on.text(from), if (r < n) on.out(to, r + 1))
SOOTH_ON_BEHALF(std::size_t, __strxfrm_l, (char* to, const char* from, std::size_t n, locale_t locale),
                (to, from, n, locale), on.text(from), if (r < n) on.out(to, r + 1))
SOOTH_ON_BEHALF(int, strcoll, (const char* a, const char* b), (a, b), on.text(a); on.text(b))
SOOTH_ON_BEHALF(void*, memmem, (const void* s, std::size_t n, const void* other, std::size_t m), (s, n, other, m),
                on.in(s, n);
                on.in(other, m))
SOOTH_ON_BEHALF(char*, strerror_r, (int number, char* to, std::size_t n), (number, to, n), (void)0,
                if (r == to) on.out_text(to))
SOOTH_ON_BEHALF(int, __xpg_strerror_r, (int number, char* to, std::size_t n), (number, to, n), (void)0,
                if (n > 0) on.out_text(to, n))
SOOTH_ON_BEHALF(char*, setlocale, (int category, const char* locale), (category, locale), on.text(locale))
SOOTH_ON_BEHALF(char*, textdomain, (const char* domain), (domain), on.text(domain))
static void arguments_read(const OnBehalf& on, int count, char** words) {
  on.in(words, static_cast<std::size_t>(count) * sizeof *words);
  for (int i = 0; on && i < count; ++i) on.text(words[i]);
}
SOOTH_ON_BEHALF(int, argp_parse, (const void* how, int count, char** words, unsigned flags, int* index, void* input),
                (how, count, words, flags, index, input), arguments_read(on, count, words), on.out(index))
SOOTH_ON_BEHALF(std::size_t, confstr, (int name, char* to, std::size_t n), (name, to, n), (void)0,
                if (r != 0) on.out(to, r < n ? r : n))

// Family libc_wide: wide characters, and their way from and to bytes.
SOOTH_ON_BEHALF(std::size_t, wcslen, (const wchar_t* s), (s), on.text(s))
SOOTH_ON_BEHALF(std::size_t, wcsnlen, (const wchar_t* s, std::size_t n), (s, n), on.text(s, n))
SOOTH_ON_BEHALF(wchar_t*, wcsdup, (const wchar_t* s), (s), on.text(s), on.out_text(r))
SOOTH_ON_BEHALF(wchar_t*, wcscpy, (wchar_t * to, const wchar_t* from), (to, from), on.text(from), on.out_text(to))
SOOTH_ON_BEHALF(int, wcscmp, (const wchar_t* a, const wchar_t* b), (a, b), on.text(a); on.text(b))
SOOTH_ON_BEHALF(wchar_t*, wmemcpy, (wchar_t * to, const wchar_t* from, std::size_t n), (to, from, n),
                on.in(from, n * sizeof *from), on.out(to, n * sizeof *to))
SOOTH_ON_BEHALF(wchar_t*, wmemset, (wchar_t * to, wchar_t c, std::size_t n), (to, c, n), (void)0,
                on.out(to, n * sizeof *to))
SOOTH_ON_BEHALF(wchar_t*, wcscat, (wchar_t * to, const wchar_t* from), (to, from),
                std::size_t at = on ? length_of(to) : 0;
                on.text(to); on.text(from), on.out_text(to + at))
SOOTH_ON_BEHALF(wchar_t*, wcsncat, (wchar_t * to, const wchar_t* from, std::size_t n), (to, from, n),
                std::size_t at = on ? length_of(to) : 0;
                on.text(to); on.text(from, n), on.out_text(to + at))
SOOTH_ON_BEHALF(std::size_t, wcsxfrm, (wchar_t * to, const wchar_t* from, std::size_t n), (to, from, n), on.text(from),
                if (r < n) on.out(to, (r + 1) * sizeof *to))
SOOTH_ON_BEHALF(std::size_t, wcsxfrm_l, (wchar_t * to, const wchar_t* from, std::size_t n, locale_t locale),
                (to, from, n, locale), on.text(from), if (r < n) on.out(to, (r + 1) * sizeof *to))
SOOTH_ON_BEHALF(std::size_t, __wcsxfrm_l, (wchar_t * to, const wchar_t* from, std::size_t n, locale_t locale),
                (to, from, n, locale), on.text(from), if (r < n) on.out(to, (r + 1) * sizeof *to))
// `n`: room. All that was converted, and the end if it came to it.
template <typename Character>
static void converted(const OnBehalf& on, const Character* to, std::size_t r, std::size_t n) {
  if (r != ~std::size_t{0}) on.out(to, (r < n ? r + 1 : n) * sizeof *to);
}
SOOTH_ON_BEHALF(std::size_t, mbstowcs, (wchar_t * to, const char* from, std::size_t n), (to, from, n), on.text(from),
                converted(on, to, r, n))
SOOTH_ON_BEHALF(std::size_t, wcstombs, (char* to, const wchar_t* from, std::size_t n), (to, from, n), on.text(from),
                converted(on, to, r, n))
SOOTH_ON_BEHALF(std::size_t, mbsrtowcs, (wchar_t * to, const char** from, std::size_t n, mbstate_t* state),
                (to, from, n, state), on.in(from);
                on.text(*from), converted(on, to, r, n); on.out(to != nullptr ? from : nullptr))
SOOTH_ON_BEHALF(std::size_t, wcsrtombs, (char* to, const wchar_t** from, std::size_t n, mbstate_t* state),
                (to, from, n, state), on.in(from);
                on.text(*from), converted(on, to, r, n); on.out(to != nullptr ? from : nullptr))
SOOTH_ON_BEHALF(std::size_t, mbsnrtowcs,
                (wchar_t * to, const char** from, std::size_t bytes, std::size_t n, mbstate_t* state),
                (to, from, bytes, n, state), on.in(from);
                on.text(*from, bytes), converted(on, to, r, n); on.out(to != nullptr ? from : nullptr))
SOOTH_ON_BEHALF(std::size_t, wcsnrtombs,
                (char* to, const wchar_t** from, std::size_t wides, std::size_t n, mbstate_t* state),
                (to, from, wides, n, state), on.in(from);
                on.text(*from, wides), converted(on, to, r, n); on.out(to != nullptr ? from : nullptr))
SOOTH_ON_BEHALF(std::size_t, wcrtomb, (char* to, wchar_t c, mbstate_t* state), (to, c, state), (void)0,
                if (r != ~std::size_t{0}) on.out(to, r))
SOOTH_ON_BEHALF(int, wctomb, (char* to, wchar_t c), (to, c), (void)0,
                if (r > 0) on.out(to, static_cast<std::size_t>(r)))
SOOTH_ON_BEHALF(int, mbtowc, (wchar_t * to, const char* from, std::size_t n), (to, from, n), (void)0,
                if (r > 0) on.in(from, static_cast<std::size_t>(r));
                if (r >= 0 && from != nullptr) on.out(to))
SOOTH_ON_BEHALF(std::size_t, mbrtowc, (wchar_t * to, const char* from, std::size_t n, mbstate_t* state),
                (to, from, n, state), (void)0, if (r <= n) on.in(from, r);
                if (r <= n && from != nullptr) on.out(to))
SOOTH_ON_BEHALF(std::size_t, iconv, (iconv_t how, char** from, std::size_t* from_left, char** to, std::size_t* to_left),
                (how, from, from_left, to, to_left), char* from_start = from != nullptr ? *from : nullptr;
                char* to_start = to != nullptr ? *to : nullptr; on.in(from); on.in(from_left); on.in(to);
                on.in(to_left), if (from != nullptr && *from != nullptr)
                                    on.in(from_start, static_cast<std::size_t>(*from - from_start));
                if (to != nullptr && *to != nullptr) on.out(to_start, static_cast<std::size_t>(*to - to_start));
                on.out(from); on.out(from_left); on.out(to); on.out(to_left))
