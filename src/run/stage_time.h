// Which part of the budget a stage of `sooth run` may take.
#pragma once

#include <algorithm>
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
  kHalfOfTheRest,  // what the last two may take for the least that they do
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
    case RunStage::kHalfOfTheRest: return (1 - spent) / 2;
  }
  return 0;
}

// Of a stage that begins with it. `limit` must outlive it.
class StageTime {
 public:
  StageTime(const WorkLimit& limit, RunStage stage)
      : limit_(&limit), end_(std::min(1.0, limit.spent() + share_of(stage, limit.spent()))) {}

  // Its share is used up, or the whole budget, or somebody wants an end. Never the first without a budget.
  bool over() const { return limit_->reached(end_); }

 private:
  const WorkLimit* limit_;
  double end_;  // of the budget
};

}  // namespace sooth
