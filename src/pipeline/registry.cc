#include "pipeline/registry.h"

#include "detect/cp.h"
#include "detect/hb.h"
#include "detect/hybrid.h"
#include "detect/ipa.h"
#include "detect/lock_order.h"
#include "detect/lockset.h"
#include "detect/misuse.h"
#include "detect/syncp.h"
#include "detect/wcp.h"

namespace sooth {

namespace {

// Of a detector that has nothing to choose.
template <std::unique_ptr<Detector> (*make)()>
std::unique_ptr<Detector> plain(const DetectorOptions&) {
  return make();
}

constexpr DetectorInfo kDetectors[] = {
    {"hb",
     "pairs that happens-before leaves unordered in the recorded run",
     Guarantee::kSound,
     true,
     plain<make_hb_detector>,
     {},
     Preserves::kHbPairs,
     false,
     {},
     false,
     true,
     Sees::kUnordered},
    {"lockset",
     "variables that no lock consistently protects (Eraser)",
     Guarantee::kHeuristic,
     false,
     plain<make_lockset_detector>,
     {},
     Preserves::kLocksetPairs,
     false,
     {},
     true,
     false,
     Sees::kSeveralThreads},
    {"hybrid",
     "pairs that neither must-order nor a common lock keeps apart",
     Guarantee::kHeuristic,
     false,
     plain<make_hybrid_detector>,
     {},
     Preserves::kHybridPairs,
     false,
     {},
     true,
     true,
     Sees::kSeveral},
    {"wcp",
     "pairs that weak-causally-precedes leaves unordered",
     Guarantee::kSoundFirstOnly,
     false,
     [](const DetectorOptions&) { return make_wcp_detector(); },
     "deadlock",
     Preserves::kWcpPairs,
     false,
     {},
     false,
     true,
     Sees::kSeveral},
    {"cp",
     "pairs that causally-precedes leaves unordered, window by window; a reference for short traces",
     Guarantee::kSoundFirstOnly,
     false,
     make_cp_detector,
     {},
     Preserves::kEverything,
     false,
     {},
     false},  // its windows count events: hiding one moves them all
    {"syncp",
     "pairs that can meet while every lock is taken in its recorded order",
     Guarantee::kSound,
     false,
     plain<make_syncp_detector>,
     {},
     Preserves::kPredictablePairs,
     false,
     {},
     false,
     true,
     Sees::kSeveral},
    {"ipa",
     "pairs that lock histories let meet, whatever reads see; counts upper and lower bound",
     Guarantee::kHeuristic,
     false,
     make_ipa_detector<IpaStrategy::kBoth>,
     {},
     Preserves::kWcpPairs,
     true,
     "hybrid",
     true,
     false,
     Sees::kSeveral},
    {"ipa:1",
     "... the upper bound only: looks at two threads at a time",
     Guarantee::kHeuristic,
     false,
     make_ipa_detector<IpaStrategy::kUpper>,
     {},
     Preserves::kWcpPairs,
     true,
     "hybrid",
     true,
     false,
     Sees::kSeveral},
    {"ipa:2",
     "... the lower bound only: no other thread has to move, or give back a lock",
     Guarantee::kHeuristic,
     false,
     make_ipa_detector<IpaStrategy::kLower>,
     {},
     Preserves::kWcpPairs,
     true,
     "hybrid",
     true,
     false,
     Sees::kSeveral},
    {"mcm",
     "pairs that some correct reordering lets meet: all of them, each with a witness (maximal causality)",
     Guarantee::kSound,
     false,
     nullptr,
     {},
     Preserves::kPredictablePairs,
     false,
     {},
     false},
    {"rdit", "the same for traces with calls that were not recorded: what these may have ordered stays so (RDIT)",
     Guarantee::kSound, false, nullptr},  // an access that a filter has left out may be what a call has waited for
    {"recipe",
     "pairs that meet when reads see other values than recorded, on branches that were not taken, too (RECIPE); needs "
     "a deep recording",
     Guarantee::kSound, false, nullptr},
    {"recipe:s", "... without branches that were not taken", Guarantee::kSound, false, nullptr},
    {"deadlock",
     "cycles of threads that may wait for each other's locks",
     Guarantee::kHeuristic,
     false,
     plain<make_deadlock_detector>,
     {},
     Preserves::kNoPairs,
     false,
     {},
     true,
     true},
    {"misuse",
     "locks used against their rules and threads that nobody joined, as the recorder saw them",
     Guarantee::kSound,
     true,
     plain<make_misuse_detector>,
     {},
     Preserves::kNoPairs},
};

}  // namespace

std::span<const DetectorInfo> detectors() { return kDetectors; }

const DetectorInfo* find_detector(std::string_view name) {
  for (const DetectorInfo& info : detectors()) {
    if (info.name == name) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace sooth
