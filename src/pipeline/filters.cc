#include "pipeline/filters.h"

#include <algorithm>

#include "base/suggest.h"
#include "filter/location_table.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

std::vector<std::string> known_filters() {
  std::vector<std::string> names;
  for (const TreeModeInfo& info : tree_modes()) {
    names.emplace_back(info.name);
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

// Eraser's state machine moves with the accesses of all threads. A filter in front of `lockset` watches it and shows an
// access again when it has moved (EraserGates); a thread that is recorded cannot see that.
bool goes_with_recorded(const TreeModeInfo& mode, const DetectorInfo& detector) {
  return detector.needs <= mode.preserves && detector.needs != Preserves::kLocksetPairs;
}

}  // namespace

Status check_recorded_filter(const std::string& filtered, const std::vector<const DetectorInfo*>& detectors) {
  if (filtered.empty()) {
    return {};
  }
  const TreeModeInfo* mode = find_tree_mode(filtered);
  if (mode == nullptr) {
    return Status::bad_input("the recorder filtered the trace by `" + filtered +
                             "`, which this version of sooth does not know");
  }
  std::string kept;
  const DetectorInfo* lost = nullptr;
  const TreeModeInfo* better = nullptr;
  for (const DetectorInfo* detector : detectors) {
    if (goes_with_recorded(*mode, *detector)) {
      kept += (kept.empty() ? "" : ",") + std::string(detector->name);
      continue;
    }
    lost = lost == nullptr ? detector : lost;
  }
  if (lost == nullptr) {
    return {};
  }
  for (const char* name : stream::kFilterNames) {
    const TreeModeInfo* other = find_tree_mode(name);
    const auto goes = [&](const DetectorInfo* detector) { return goes_with_recorded(*other, *detector); };
    if (better == nullptr && other != nullptr && std::all_of(detectors.begin(), detectors.end(), goes)) {
      better = other;
    }
  }
  return Status::usage("it was recorded with --filter " + filtered + ", which changes the pairs that " +
                       std::string(lost->name) + " reports; record it with --filter " +
                       std::string(better != nullptr ? better->name : "off") +
                       (kept.empty() ? "" : ", or analyse it --with " + kept));
}

std::string analyses_of_recorded(const std::string& filtered) {
  const TreeModeInfo* mode = find_tree_mode(filtered);
  if (mode == nullptr) {
    return "";
  }
  const bool keeps_hb = goes_with_recorded(*mode, *find_detector("hb"));
  std::string kept = keeps_hb ? "hb" : "hybrid";
  for (const char* name : {"wcp", "deadlock", "misuse"}) {
    if (goes_with_recorded(*mode, *find_detector(name))) {
      kept += "," + std::string(name);
    }
  }
  return kept;
}

Result<TreeOptions> choose_filter(const std::string& name, const std::vector<const DetectorInfo*>& detectors,
                                  std::uint64_t locations) {
  const TreeModeInfo* mode = find_tree_mode(name);
  if (mode == nullptr) {
    return Status::usage(no_such("filter", name, known_filters()));
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
