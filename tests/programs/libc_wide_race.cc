// Wide characters are read and written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <iconv.h>
#include <stdlib.h>
#include <wchar.h>

#include "harness.h"

wchar_t text[8] = L"wide";
alignas(64) wchar_t made[8];
alignas(64) char out[8];
alignas(64) char bytes[] = "ab";
alignas(64) std::size_t left = 8;
Apart copy, result;

static void worker() {
  result.value = static_cast<int>(wcslen(text));  // RACE(a)
  result.value += static_cast<int>(mbstowcs(made, "more", 8));  // RACE(b)
  iconv_t how = iconv_open("UTF-8", "ASCII");
  char *from = bytes, *to = out;
  std::size_t n = 2;
  result.value += static_cast<int>(iconv(how, &from, &n, &to, &left));  // RACE(c) RACE(d)
  iconv_close(how);
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  text[0] = L'W';  // RACE(a)
  copy.value = static_cast<int>(made[0]);  // RACE(b)
  copy.value += out[0];  // RACE(c)
  copy.value += static_cast<int>(left);  // RACE(d)
  join(thread);
}
