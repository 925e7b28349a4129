// Every parser of bytes from outside behind one function each, for libFuzzer and for corpora without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sooth {

// Whatever the bytes are, it returns: errors are values. What is accepted is used once more, as the commands would.
struct ParserHarness {
  const char* name;  // of its corpus, too
  void (*run)(std::string_view bytes);
};
std::span<const ParserHarness> parser_harnesses();
// nullptr: there is no such parser.
const ParserHarness* find_harness(std::string_view name);

// What the harness `trace` takes: blocks of the file `events`, each as 1 byte of kind, 4 of count, 8 of the first number
// and 4 of length in front of the payload. Checksums are made when it runs.
std::string blocks_of_trace(const std::string& directory);
// What `recording` takes: the first page, 4 bytes of length and `sites`, 4 and `process`; then each chunk as 4 bytes of
// length and what is in front of its last zeros.
std::string pack_recording(const std::string& directory);

}  // namespace sooth
