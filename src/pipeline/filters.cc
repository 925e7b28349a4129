#include "pipeline/filters.h"

#include <algorithm>

#include "filter/location_table.h"

namespace sooth {
namespace {

std::string known_filters() {
  std::string names;
  for (const TreeModeInfo& info : tree_modes()) {
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names;
}

// The first mode that keeps all pairs of detectors with this need; nullptr when none does.
const TreeModeInfo* mode_for(Preserves need) {
  for (const TreeModeInfo& info : tree_modes()) {
    if (!info.first_race_only && info.preserves >= need) {
      return &info;
    }
  }
  return nullptr;
}

Status refusal(const TreeModeInfo& mode, const DetectorInfo& detector, Preserves largest_need) {
  const std::string name(detector.name);
  const std::string refused =
      "--filter " + std::string(mode.name) + " would change the pairs that " + name + " reports";
  if (mode_for(detector.needs) == nullptr) {
    return Status::usage(refused + ", as every filter would; leave out the filter, or " + name);
  }
  const TreeModeInfo* better = mode_for(largest_need);
  return Status::usage(refused + "; use --filter " +
                       std::string((better != nullptr ? better : mode_for(detector.needs))->name));
}

}  // namespace

Result<TreeOptions> choose_filter(const std::string& name, const std::vector<const DetectorInfo*>& detectors,
                                  std::uint64_t locations) {
  const TreeModeInfo* mode = find_tree_mode(name);
  if (mode == nullptr) {
    return Status::usage("there is no filter `" + name + "`; there are: " + known_filters());
  }
  if (locations < LocationSet::kWays) {
    return Status::usage("--tree-locations needs at least " + std::to_string(LocationSet::kWays));
  }
  Preserves need = Preserves::kNoPairs;
  for (const DetectorInfo* detector : detectors) {
    need = std::max(need, detector->needs);
  }
  for (const DetectorInfo* detector : detectors) {
    if (detector->needs > mode->preserves) {
      return refusal(*mode, *detector, need);
    }
  }
  TreeOptions options;
  options.mode = mode->mode;
  options.locations = locations;
  options.for_lockset = std::any_of(detectors.begin(), detectors.end(), [](const DetectorInfo* detector) {
    return detector->needs == Preserves::kLocksetPairs;
  });
  // Cycles of locks are about lock events themselves; so may be whatever comes with a need of its own.
  options.hide_sections =
      mode->mode == TreeMode::kTree && !detectors.empty() &&
      std::all_of(detectors.begin(), detectors.end(), [](const DetectorInfo* detector) {
        return detector->needs == Preserves::kLocksetPairs || detector->needs == Preserves::kHybridPairs;
      });
  options.across_threads = mode->mode == TreeMode::kTree && need == Preserves::kLocksetPairs;
  return options;
}

}  // namespace sooth
