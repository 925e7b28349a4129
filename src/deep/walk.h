// Walks through the code of a deep recording along what each thread left behind. Whoever executes the code again relies
// on every instruction leaving exactly what deep/program.h says; this is the check that it does, and it needs no
// values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "deep/program.h"
#include "trace/batch.h"

namespace sooth {

// How far one thread was walked.
struct ThreadWalk {
  ThreadId thread{};
  std::uint64_t instructions = 0;  // of deep code
  std::uint64_t accesses = 0;      // events that belong to one of them
  std::uint64_t outside = 0;       // events of code that is not deep: before the first kEnter, and inside calls
  std::uint64_t calls = 0;         // of deep functions
  std::uint64_t records = 0;       // deep records that were used
  std::uint64_t unfinished = 0;    // deep functions that the thread was in at the end
  std::string stopped;             // why the walk ended before the trace; empty: it did not
};

// By thread, of those that have deep records. `events` and `values` are the whole trace, `records` its deep column.
// O(events + records + instructions).
std::vector<ThreadWalk> walk_threads(const DeepProgram& program, std::span<const Event> events,
                                     std::span<const Value> values, std::span<const DeepRecord> records);

}  // namespace sooth
