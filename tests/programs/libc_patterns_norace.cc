// Matches and found names are written, and is looked at behind the join.
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
  result.value += regexec(&pattern, text, 1, &match, 0);
  regfree(&pattern);
  result.value += glob("/dev/nul?", 0, nullptr, &found);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  text[0] = 'O';
  copy.value = match.rm_so;
  copy.value += static_cast<int>(found.gl_pathc);
}
