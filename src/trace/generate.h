// Deterministic synthetic traces, for benchmarks and experiments.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "trace/writer.h"

namespace sooth {

// Equal options give equal traces, on every machine.
struct GenerateOptions {
  std::uint64_t events = 1'000'000;  // exactly so many
  std::uint32_t threads = 4;
  std::uint32_t locks = 16;
  std::uint32_t variables = 1'000;
  std::uint32_t sites = 200;
  std::uint32_t nesting = 1;         // locks held at once, at most
  std::uint32_t racy_ppm = 100;      // accesses per million made without the lock of the variable
  std::uint64_t seed = 1;
};

// The sentence that says what is wrong with the options, or ok.
Status check_options(const GenerateOptions& options);
// Writes the whole trace, without finish().
Status generate_trace(const GenerateOptions& options, TraceWriter& writer);

}  // namespace sooth
