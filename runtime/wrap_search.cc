// Sorting and searching: arrays, trees, patterns. What the caller's own functions touch on the way is seen by itself.
#include <glob.h>
#include <regex.h>
#include <search.h>
#include <stdlib.h>
#include <wordexp.h>

#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

// Family libc_search: the array is read before the first comparison and written behind the last.
using Compare = int(const void*, const void*);
using CompareWith = int(const void*, const void*, void*);
SOOTH_REAL static Real<void(void*, std::size_t, std::size_t, Compare*)> real_qsort{"qsort"};
SOOTH_EXPORT void sooth_qsort(void* array, std::size_t n, std::size_t size, Compare* compare) asm("qsort");
void sooth_qsort(void* array, std::size_t n, std::size_t size, Compare* compare) {
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  on.in(array, n * size);
  real_qsort(array, n, size, compare);
  if (n > 1) on.out(array, n * size);
}
SOOTH_REAL static Real<void(void*, std::size_t, std::size_t, CompareWith*, void*)> real_qsort_r{"qsort_r"};
SOOTH_EXPORT void sooth_qsort_r(void* array, std::size_t n, std::size_t size, CompareWith* compare,
                                void* with) asm("qsort_r");
void sooth_qsort_r(void* array, std::size_t n, std::size_t size, CompareWith* compare, void* with) {
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  on.in(array, n * size);
  real_qsort_r(array, n, size, compare, with);
  if (n > 1) on.out(array, n * size);
}
// The root is the caller's. The nodes are not, but for the pointers to keys.
SOOTH_ON_BEHALF(void*, tsearch, (const void* key, void** root, Compare* compare), (key, root, compare), on.in(root);
                void* old = root != nullptr ? *root : nullptr, if (root != nullptr && *root != old) on.out(root);
                r != nullptr && *static_cast<void**>(r) == key ? on.out(r, sizeof(void*)) : (void)0)
SOOTH_ON_BEHALF(void*, tfind, (const void* key, void* const* root, Compare* compare), (key, root, compare), on.in(root))
SOOTH_ON_BEHALF(void*, tdelete, (const void* key, void** root, Compare* compare), (key, root, compare), on.in(root),
                if (r != nullptr) on.out(root))

// Family libc_patterns: regular expressions, names of files, words of the shell.
SOOTH_ON_BEHALF(int, regcomp, (regex_t * to, const char* pattern, int flags), (to, pattern, flags), on.text(pattern),
                if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, regexec, (const regex_t* pattern, const char* s, std::size_t n, regmatch_t* to, int flags),
                (pattern, s, n, to, flags), on.in(pattern);
                (flags & REG_STARTEND) == 0 ? on.text(s) : (void)0, if (r == 0) on.out(to, n * sizeof *to))
SOOTH_ON_BEHALF(std::size_t, regerror, (int error, const regex_t* pattern, char* to, std::size_t n),
                (error, pattern, to, n), on.in(pattern), if (n > 0) on.out_text(to, n))
SOOTH_REAL static Real<void(regex_t*)> real_regfree{"regfree"};
SOOTH_EXPORT void sooth_regfree(regex_t* pattern) asm("regfree");
void sooth_regfree(regex_t* pattern) {
  OnBehalf(recorded_thread(), SOOTH_CALLER).out(pattern);
  real_regfree(pattern);
}
SOOTH_ON_BEHALF(int, fnmatch, (const char* pattern, const char* s, int flags), (pattern, s, flags), on.text(pattern);
                on.text(s))
SOOTH_ON_BEHALF(int, glob, (const char* pattern, int flags, int (*error)(const char*, int), glob_t* to),
                (pattern, flags, error, to), on.text(pattern), on.out(to);
                if (r == 0) on.out_texts(to->gl_pathv + ((flags & GLOB_DOOFFS) != 0 ? to->gl_offs : 0)))
SOOTH_ON_BEHALF(int, glob64, (const char* pattern, int flags, int (*error)(const char*, int), glob64_t* to),
                (pattern, flags, error, to), on.text(pattern), on.out(to);
                if (r == 0) on.out_texts(to->gl_pathv + ((flags & GLOB_DOOFFS) != 0 ? to->gl_offs : 0)))
SOOTH_ON_BEHALF(int, wordexp, (const char* words, wordexp_t* to, int flags), (words, to, flags), on.text(words),
                on.out(to);
                if (r == 0) on.out_texts(to->we_wordv + ((flags & WRDE_DOOFFS) != 0 ? to->we_offs : 0)))
