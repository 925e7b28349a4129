// Makes a witness small: fewer threads, fewer steps, and fewer changes between threads, so that a person can follow it.
#pragma once

#include <cstdint>

#include "race/witness.h"

namespace sooth {

struct WitnessSize {
  std::uint64_t threads = 0;   // that do something, also those that are next only
  std::uint64_t switches = 0;  // one less than the stretches of one thread
  std::uint64_t events = 0;
};
WitnessSize size_of(const TraceView& trace, const Witness& witness);

// How much may be spent: events that the checker is shown, over all its calls.
inline constexpr std::uint64_t kShrinkWork = 4'000'000;

// Of a witness that check_witness() accepts, one of the same pair that it accepts too, with no more threads, switches
// and events; the same one when nothing smaller is found. Three things are done, and whatever the checker rejects is not
// taken:
// - what nothing that follows depends on is cut: the events in front of the accesses stay, with what must come before
//   them, the writes that their reads see, and the releases of locks that they take;
// - threads run for as long as they can, with several rules for who is next, while events that have to do with each
//   other (the same memory, thread, signal ...) keep their order; first with critical sections in any order, then with
//   these in theirs, too: such orders are all alike (Mazurkiewicz);
// - stretches of a thread that others separate are put together, if the checker lets them.
// Deterministic. Time is linear in the witness times its threads, and `work` for the checker.
Witness shrink(const TraceView& trace, const Witness& witness, std::uint64_t work = kShrinkWork);

}  // namespace sooth
