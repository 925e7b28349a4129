// Causally-Precedes races, window by window: a reference that other analyses are compared with.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// Smaragdakis, Evans, Sadowski, Yi and Flanagan (POPL 2012), as Definition 2 of the WCP paper states it, with
// must-order in place of thread order as in docs/semantics.md section 3. `<<` is the smallest relation such that
//   (a) release << acquire, for two sections of a lock, one of them exclusive, that contain conflicting accesses;
//   (b) release << acquire, for two such sections that contain events e1 << e2;
//   (c) `<<` composed with happens-before, on either side, is `<<`;
//   (d) a must-order edge between threads whose sender holds a lock after it, or whose receiver holds one before it, is
//       `<<`: swapping the sections around the edge would reverse it.
// Reported are the conflicting pairs that neither `<<` nor must-order orders. The first of them shows that there is a
// race or a deadlock; the others may be false.
//
// CP has no known algorithm of one pass. This one takes the trace in consecutive windows of options.window events
// that do not overlap, and knows nothing of the order that events outside a window bring about. Lost are the pairs
// with an access in each of two windows. A lock that is held when a window starts counts as acquired by the first
// event of its thread in the window. Within a window nothing is approximated. Time and memory: three clocks per event
// of a window, swept until rule (b) adds nothing.
std::unique_ptr<Detector> make_cp_detector(const DetectorOptions& options);

}  // namespace sooth
