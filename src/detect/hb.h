// Happens-before races: pairs that the recorded run itself leaves unordered.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// docs/semantics.md section 4. Vector clocks for threads and locks, and FastTrack's idea for accesses (Flanagan and
// Freund, PLDI 2009): the accesses to a cell are usually totally ordered, so one epoch answers for all of them. Where
// that epoch is unordered with the current access, the log of the cell is walked, which yields the exact set of site
// pairs rather than FastTrack's first race. Constant work per access without a race, linear in the number of threads
// per synchronisation; memory for the distinct (cell, thread, site, kind).
std::unique_ptr<Detector> make_hb_detector();

}  // namespace sooth
