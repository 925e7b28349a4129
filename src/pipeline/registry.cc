#include "pipeline/registry.h"

#include "detect/hb.h"
#include "detect/hybrid.h"
#include "detect/lockset.h"
#include "detect/syncp.h"

namespace sooth {

namespace {

constexpr DetectorInfo kDetectors[] = {
    {"hb", "pairs that happens-before leaves unordered in the recorded run", Guarantee::kSound, true, make_hb_detector},
    {"lockset", "variables that no lock consistently protects (Eraser)", Guarantee::kHeuristic, false, make_lockset_detector},
    {"hybrid", "pairs that neither must-order nor a common lock keeps apart", Guarantee::kHeuristic, false,
     make_hybrid_detector},
    {"syncp", "pairs that can meet while every lock is taken in its recorded order", Guarantee::kSound, false,
     make_syncp_detector},
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
