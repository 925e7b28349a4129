// libFuzzer over one parser, which the environment names:
//
//   SOOTH_PARSER=std fuzz_parsers -max_total_time=120 tests/fuzz/corpus/std
#include <cstdio>
#include <cstdlib>

#include "parsers.h"

namespace {
const sooth::ParserHarness* chosen = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("SOOTH_PARSER");
  chosen = sooth::find_harness(name == nullptr ? "" : name);
  if (chosen == nullptr) {
    std::fprintf(stderr, "SOOTH_PARSER names no parser. There are:");
    for (const sooth::ParserHarness& harness : sooth::parser_harnesses()) {
      std::fprintf(stderr, " %s", harness.name);
    }
    std::fprintf(stderr, "\n");
    std::exit(64);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
