// Every analysis, by name. A row in registry.cc is the whole registration.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "detect/detector.h"
#include "filter/filter.h"

namespace sooth {

// What of a trace a detector must see to find all that it finds: detect/sharing_scan.h.
enum class Sees : std::uint8_t {
  kEverything,
  kSeveralThreads,  // accesses to memory that several threads use, whatever orders them
  kSeveral,         // ... and threads that have a slot one after the other are one thread
  kReads,           // accesses to memory where must-order and reads-from leave some unordered
  kSections,        // accesses to memory where WCP leaves some unordered, and in sections those of kSeveral
  kUnordered,       // accesses to memory where happens-before leaves some unordered
};

// Which of the locks that the program made a detector takes for locks: order/lock_view.h.
enum class SeesLocks : std::uint8_t {
  kOfTrace,     // none of them
  kReversible,  // ... that may be taken in another order in a witness
  kMeant,       // ... that are used as locks
};

struct DetectorInfo {
  std::string_view name;
  std::string_view summary;
  Guarantee guarantee;
  bool observed = false;  // its pairs are unordered in the recorded run itself: `predicted` without a witness
  // nullptr: it works on what was kept of the trace, after the pass.
  std::unique_ptr<Detector> (*make)(const DetectorOptions&) = nullptr;
  std::string_view companion = {};  // the detector that tells the other half of what its pairs may mean
  // What a filter in front of it must preserve for its pairs to stay the same. Everything, if nobody says otherwise.
  Preserves needs = Preserves::kEverything;
  bool data_abstraction = false;   // its pairs can meet as far as locks and must-order say: reports tell so
  std::string_view includes = {};  // the analysis that Detector::included() stands for
  bool with_calls = true;  // what it reports stands in a trace with calls that were not recorded (Op::kCallBegin) too
  // Its threads may be slots (trace/tools/thread_slots.h): it reports the same then, and costs what live threads cost.
  bool takes_slots = false;
  Sees sees = Sees::kEverything;
  SeesLocks sees_locks = SeesLocks::kOfTrace;
};

// In the order in which reports name them.
std::span<const DetectorInfo> detectors();
// nullptr when there is no such detector.
const DetectorInfo* find_detector(std::string_view name);

}  // namespace sooth
