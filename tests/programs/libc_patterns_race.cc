// Matches and found names are written, and another thread looks at it without waiting.
#include <glob.h>
#include <regex.h>

#include "harness.h"

regex_t pattern;
alignas(64) regmatch_t match;
alignas(64) char text[] = "one two";
alignas(64) glob_t found;
Apart copy, result;

static void worker() {
  result.value = regcomp(&pattern, "t.o", 0);
  result.value += regexec(&pattern, text, 1, &match, 0);  // RACE(a) RACE(b)
  regfree(&pattern);
  result.value += glob("/dev/nul?", 0, nullptr, &found);  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  text[0] = 'O';  // RACE(a)
  copy.value = match.rm_so;  // RACE(b)
  copy.value += static_cast<int>(found.gl_pathc);  // RACE(c)
  join(thread);
}
