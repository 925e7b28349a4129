// A call that the rules of locks, threads, signals and the heap forbid.
#pragma once

#include <cstdint>
#include <optional>

#include "race/pair_table.h"

namespace sooth {

// Seen to happen in the recorded run, one for each kind and site (of a use after free, and site of the free).
struct MisuseCandidate {
  MisuseKind kind{};
  AccessRecord call;  // the first of these: the misuse itself, or the fork of a leaked thread when the trace has it
  std::optional<AccessRecord> before = std::nullopt;  // of a use after free: the free
  std::uint64_t times = 1;                            // that it happened, with this one

  friend bool operator==(const MisuseCandidate&, const MisuseCandidate&) = default;
};

}  // namespace sooth
