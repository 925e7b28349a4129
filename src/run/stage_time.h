// Which part of the budget a stage of `sooth run` may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "run/work_limit.h"

namespace sooth {

// docs/run.md, "Time". What is left is for controlled runs and further recordings.
enum class RunStage : std::uint8_t {
  kReading,         // the first recording, for all detectors
  kWitnesses,       // ... of it, from there
  kQuestions,       // ... to mcm and recipe, with the time for witnesses in it
  kLaterReading,    // a further recording
  kLaterWitnesses,  // ... of it
  kLaterQuestions,
  kSuspicions,  // of any recording
  kExplore,
  kTest,
  kWeakMemory,
  kMinimize,
  kHalfOfTheRest,  // what exploring and testing may take for the least that they do
};

// Of the budget; of what is left of it when so much is `spent`.
constexpr double share_of(RunStage stage, double spent) {
  switch (stage) {
    case RunStage::kReading: return 0.4;
    case RunStage::kWitnesses: return 0.2;
    case RunStage::kQuestions: return 0.3;
    case RunStage::kLaterReading: return 0.15;
    case RunStage::kLaterWitnesses: return 0.05;
    case RunStage::kLaterQuestions: return 0.1;
    case RunStage::kSuspicions: return 0.03;
    case RunStage::kExplore: return 1.0 / 60;
    case RunStage::kTest: return 1.0 / 30;
    case RunStage::kWeakMemory: return 1.0 / 60;
    case RunStage::kMinimize: return 1.0 / 60;
    case RunStage::kHalfOfTheRest: return (1 - spent) / 2;
  }
  return 0;
}

// A program may have many processes, and all that is done to the recordings of one run must leave time for the rest: what
// part of its usual share each stage of the next process has, when `left` of them, with it, have `rest` of the budget and
// one alone would have `share`.
constexpr double part_of_each(std::size_t left, double rest, double share) {
  return share <= 0 ? 1 : std::clamp(rest / static_cast<double>(left) / share, 0.0, 1.0);
}

// Of a stage that begins with it. `limit` must outlive it. `part`: of its share.
class StageTime {
 public:
  StageTime(const WorkLimit& limit, RunStage stage, double part = 1)
      : limit_(&limit), end_(std::min(1.0, limit.spent() + part * share_of(stage, limit.spent()))) {}

  // Its share is used up, or the whole budget, or somebody wants an end. Never the first without a budget.
  bool over() const { return limit_->reached(end_); }

 private:
  const WorkLimit* limit_;
  double end_;  // of the budget
};

}  // namespace sooth
