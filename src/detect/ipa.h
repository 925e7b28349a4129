// Incremental predictive analysis: pairs whose threads can get there, as far as locks and must-order say.
#pragma once

#include <cstdint>
#include <memory>

#include "detect/detector.h"
#include "detect/ipa_reachability.h"

namespace sooth {

enum class IpaStrategy : std::uint8_t {
  kUpper,  // I: looks at the two threads only, and misses nothing
  kLower,  // II: all other threads stay where they are, and can
  kBoth,   // reports what I finds, and counts how much of it II finds
};

// IPA (Ganai, ASE 2011); docs/semantics.md section 11 and docs/ipa.md. Of the pairs of `hybrid` it reports those whose
// lock histories let both accesses be next at the same time. It works under data abstraction: what reads see is not
// looked at.
//
// One pass. Memory is bounded by the limits: what they cost is counted and told in notes(). A pair of sites is not
// looked at any further once it is decided that it can meet, so each has one second access. Deadlocks that the search
// runs into are reported.
std::unique_ptr<Detector> make_ipa_detector(IpaStrategy strategy, const IpaLimits& limits);
template <IpaStrategy strategy>
std::unique_ptr<Detector> make_ipa_detector(const DetectorOptions& options) {
  IpaLimits limits;
  limits.compare = options.compare;
  return make_ipa_detector(strategy, limits);
}

}  // namespace sooth
