// Weak-Causally-Precedes races: a predictive partial order in linear time.
#pragma once

#include <cstddef>
#include <memory>

#include "detect/detector.h"

namespace sooth {

// WCP (Kini, Mathur, Viswanathan, PLDI 2017), Algorithm 1, repaired and extended as docs/wcp.md explains: rule (a)
// takes only releases of other threads; must-order edges; reader/writer and re-entrant locks; sections that stay open.
// A pair shows that the trace has a predictable race or deadlock if locks are nested, but it need not be this pair.
//
// Linear in the events, times the number of threads at synchronisation. Memory: what happens-before needs, a record for
// each lock and variable used together, and the sections that rule (b) may still be asked about: docs/wcp.md. All
// sections are looked through for forgettable ones when `trim_at` more have come together, or as many as the work is
// worth; 1: after every release, and all their clocks are packed, for tests.
std::unique_ptr<Detector> make_wcp_detector(std::size_t trim_at = 1'024);

}  // namespace sooth
