// A block of a thread that should look as if it was done in one go, and what comes in between.
#pragma once

#include <cstdint>

#include "race/pair_table.h"

namespace sooth {

// docs/semantics.md, section 17. `first` and `second` are of one thread, `other` is of another one.
struct AtomicityCandidate {
  // What the thread did before, what the other one did or could do then, and where it went on: of a violated block its
  // beginning, the other's event and the one that closes the cycle; of split sections the three acquires.
  AccessRecord first, other, second;
  bool observed = false;  // the recorded run violates the block; else the sections are split, and nothing came between
  bool declared = false;  // somebody has said that it is one block; else that is a guess
  bool checks = false;    // split: the first section only reads, and the second writes some of that
  std::uint64_t times = 1;  // blocks or splits at these places

  friend bool operator==(const AtomicityCandidate&, const AtomicityCandidate&) = default;
};

}  // namespace sooth
