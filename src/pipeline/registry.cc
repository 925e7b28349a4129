#include "pipeline/registry.h"

#include "detect/atomicity.h"
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
    {.name = "hb",
     .summary = "pairs that happens-before leaves unordered in the recorded run",
     .guarantee = Guarantee::kSound,
     .observed = true,
     .make = plain<make_hb_detector>,
     .needs = Preserves::kHbPairs,
     .with_calls = false,
     .takes_slots = true,
     .sees = Sees::kUnordered},
    {.name = "lockset",
     .summary = "variables that no lock consistently protects (Eraser)",
     .guarantee = Guarantee::kHeuristic,
     .make = plain<make_lockset_detector>,
     .needs = Preserves::kLocksetPairs,
     .sees = Sees::kSeveralThreads,
     .sees_locks = SeesLocks::kMeant},
    {.name = "hybrid",
     .summary = "pairs that neither must-order nor a common lock keeps apart",
     .guarantee = Guarantee::kHeuristic,
     .make = plain<make_hybrid_detector>,
     .needs = Preserves::kHybridPairs,
     .takes_slots = true,
     .sees = Sees::kSeveral,
     .sees_locks = SeesLocks::kMeant},
    {.name = "hybrid:hard",
     .summary = "... the same if atomics and semaphores order nothing: candidates that need another store or post",
     .guarantee = Guarantee::kHeuristic,
     .make = plain<make_hard_hybrid_detector>,
     .takes_slots = true,
     .sees = Sees::kSeveral,
     .sees_locks = SeesLocks::kMeant},
    {.name = "wcp",
     .summary = "pairs that weak-causally-precedes leaves unordered",
     .guarantee = Guarantee::kSoundFirstOnly,
     .make = [](const DetectorOptions&) { return make_wcp_detector(); },
     .companion = "deadlock",
     .needs = Preserves::kWcpPairs,
     .with_calls = false,
     .takes_slots = true,
     .sees = Sees::kSections,
     .sees_locks = SeesLocks::kReversible},
    {.name = "cp",
     .summary = "pairs that causally-precedes leaves unordered, window by window; a reference for short traces",
     .guarantee = Guarantee::kSoundFirstOnly,
     .make = make_cp_detector,
     .needs = Preserves::kEverything,  // its windows count events: hiding one moves them all
     .with_calls = false},
    {.name = "syncp",
     .summary = "pairs that can meet while every lock is taken in its recorded order",
     .guarantee = Guarantee::kSound,
     .make = plain<make_syncp_detector>,
     .needs = Preserves::kPredictablePairs,
     .with_calls = false,
     .takes_slots = true,
     .sees = Sees::kReads,
     .sees_locks = SeesLocks::kReversible},
    {.name = "ipa",
     .summary = "pairs that lock histories let meet, whatever reads see; counts upper and lower bound",
     .guarantee = Guarantee::kHeuristic,
     .make = make_ipa_detector<IpaStrategy::kBoth>,
     .needs = Preserves::kWcpPairs,
     .data_abstraction = true,
     .includes = "hybrid",
     .sees = Sees::kSeveral,
     .sees_locks = SeesLocks::kMeant},
    {.name = "ipa:1",
     .summary = "... the upper bound only: looks at two threads at a time",
     .guarantee = Guarantee::kHeuristic,
     .make = make_ipa_detector<IpaStrategy::kUpper>,
     .needs = Preserves::kWcpPairs,
     .data_abstraction = true,
     .includes = "hybrid",
     .sees = Sees::kSeveral,
     .sees_locks = SeesLocks::kMeant},
    {.name = "ipa:2",
     .summary = "... the lower bound only: no other thread has to move, or release a lock",
     .guarantee = Guarantee::kHeuristic,
     .make = make_ipa_detector<IpaStrategy::kLower>,
     .needs = Preserves::kWcpPairs,
     .data_abstraction = true,
     .includes = "hybrid",
     .sees = Sees::kSeveral,
     .sees_locks = SeesLocks::kMeant},
    {.name = "mcm",
     .summary = "pairs that some correct reordering lets meet: all of them, each with a witness (maximal causality)",
     .guarantee = Guarantee::kSound,
     .needs = Preserves::kPredictablePairs,
     .with_calls = false},
    {.name = "rdit",
     .summary = "the same for traces with calls that were not recorded: what these may have ordered stays so (RDIT)",
     .guarantee = Guarantee::kSound,
     .needs = Preserves::kEverything},  // an access that a filter has left out may be what a call has waited for
    {.name = "recipe",
     .summary = "pairs that meet when reads see other values than recorded, on branches that were not taken, too "
                "(RECIPE); needs a deep recording",
     .guarantee = Guarantee::kSound},
    {.name = "recipe:s", .summary = "... without branches that were not taken", .guarantee = Guarantee::kSound},
    {.name = "deadlock",
     .summary = "cycles of threads that may wait for each other's locks",
     .guarantee = Guarantee::kHeuristic,
     .make = make_deadlock_detector,
     .needs = Preserves::kNoPairs,
     .takes_slots = true,
     .sees_locks = SeesLocks::kMeant},
    {.name = "atomicity",
     .summary = "blocks that are meant to be atomic and that the run violates (AeroDrome), and critical sections that "
                "are split",
     .guarantee = Guarantee::kHeuristic,
     .make = make_atomicity_detector,
     .needs = Preserves::kWcpPairs,  // what a filter hides it may miss
     .sees = Sees::kSeveral},
    {.name = "misuse",
     .summary = "locks, threads and signal handlers used against their rules, as the recorder saw them, and uses of "
                "freed memory",
     .guarantee = Guarantee::kSound,
     .observed = true,
     .make = plain<make_misuse_detector>,
     .needs = Preserves::kNoPairs},
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
