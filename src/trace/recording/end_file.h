// The file `end` of a recording: how the process ended when it did not reach exit(). STREAMS.md, "end".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "trace/tables.h"

namespace sooth {

// Where a thread stood.
struct EndedThread {
  std::uint32_t thread = 0;
  std::uint32_t waits_for = 0;          // control::BlockedOn as a number; 0: for nothing that is known
  std::optional<std::uint32_t> holder;  // the thread that has it
  std::uint64_t object = 0;             // what it waits for
  std::string object_name;              // ... if that is a global variable
  std::vector<std::uint32_t> rows;      // of `sites`, innermost first
  std::vector<Site> stack;              // the same with names, and with what was inlined

  friend bool operator==(const EndedThread&, const EndedThread&) = default;
};

struct RecordedEnd {
  std::uint32_t signal = 0;  // that is about to kill it; 0: every thread waited for another
  std::string message;       // the assertion that failed; may be empty
  std::uint64_t delay =
      0;  // nanoseconds for which a thread that could run was kept from it, so that a deadline came first
  std::vector<EndedThread> threads;

  friend bool operator==(const RecordedEnd&, const RecordedEnd&) = default;
};

// Without names. Any bytes may be thrown at it: lines that are not whole or not understood are left out. nullopt: it
// tells of no end.
std::optional<RecordedEnd> parse_end(std::string_view text);
// Of a recording that is complete. nullopt: the process reached its end, or nobody knows how it ended.
Result<std::optional<RecordedEnd>> read_recorded_end(const std::string& directory);

}  // namespace sooth
