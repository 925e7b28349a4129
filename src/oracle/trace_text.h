// Small traces as STD text (docs/std-format.md) and back, independent of the reader and writer of trace/: to print
// counter-examples, and to write tests as one readable string.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/batch.h"

namespace sooth::oracle {

struct TextTrace {
  std::vector<Event> events;
  std::vector<std::string> labels;  // of SiteId 0, 1, ...
  std::vector<Reach> reaches;       // `T0|callbegin(c)|7|=0x1000:8,0x2000:4`
};

// Events stand on lines or are separated by blanks. Names of memory become bytes of their own; `0x1000:8` is a range.
// Ids are given in order of appearance. Aborts with a message on text it does not understand: it is for tests.
TextTrace parse_trace(std::string_view text);

// One event per line; sites are printed as their numbers.
std::string print_trace(std::span<const Event> trace, std::span<const Reach> reaches = {});

}  // namespace sooth::oracle
