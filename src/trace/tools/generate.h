// Deterministic synthetic traces, for benchmarks and experiments.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "trace/writer.h"

namespace sooth {

inline constexpr std::uint32_t kMaxGeneratedThreads = 1'000'000;

// Equal options give equal traces, on every machine.
//
// The program that the trace pretends to come from: T0 forks the other threads, all work, T0 joins them. Working is
// repeating: take a random lock, make about 8 accesses (6 of 10 read) to variables that belong to it (variable v
// belongs to lock v mod locks), release it; with `nesting` above 1, sections of higher locks are nested inside.
// Without locks variable v belongs to thread v mod threads. Threads take turns at random and wait for locks that are
// taken. So all accesses are ordered by happens-before, except the racy ones.
// A variable is accessed from few sites, as in real programs: sites form groups of 8 (3 read, 3 write, and one each
// for racy reads and writes), and all accesses to variable v come from group v mod groups.
struct GenerateOptions {
  std::uint64_t events = 1'000'000;  // exactly so many
  std::uint32_t threads = 4;
  std::uint32_t locks = 16;         // 0: threads keep to variables of their own
  std::uint32_t variables = 1'000;  // of 8 bytes, at 0x10000 and up
  std::uint32_t sites = 200;        // gen.c:1 and up
  std::uint32_t nesting = 1;        // locks held at once by a thread, at most
  std::uint32_t racy_ppm = 100;     // accesses per million made to any variable, without its lock
  std::uint32_t turn = 8;           // mean number of events before another thread takes over
  std::uint64_t seed = 1;
};

// The sentence that says what is wrong with the options, or ok.
Status check_options(const GenerateOptions& options);
// Writes the whole trace, without finish(). The options must be fine.
Status generate_trace(const GenerateOptions& options, TraceWriter& writer);

}  // namespace sooth
