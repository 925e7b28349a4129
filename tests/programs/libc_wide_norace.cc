// Wide characters are read and written, and is looked at behind the join.
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
  result.value = static_cast<int>(wcslen(text));
  result.value += static_cast<int>(mbstowcs(made, "more", 8));
  iconv_t how = iconv_open("UTF-8", "ASCII");
  char *from = bytes, *to = out;
  std::size_t n = 2;
  result.value += static_cast<int>(iconv(how, &from, &n, &to, &left));
  iconv_close(how);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  text[0] = L'W';
  copy.value = static_cast<int>(made[0]);
  copy.value += out[0];
  copy.value += static_cast<int>(left);
}
