#include "pipeline/stopped_detector.h"

#include <utility>

namespace sooth {
namespace {

class StoppedDetector final : public Detector {
 public:
  explicit StoppedDetector(const Detector& stopped)
      : guarantee_(stopped.guarantee()),
        races_(stopped.races().closed_copy()),
        lock_sets_(stopped.lock_sets()),
        deadlocks_(stopped.deadlocks()),
        plans_(stopped.plans()),
        misuses_(stopped.misuses()),
        notes_(stopped.notes()),
        stats_(stopped.stats()) {}

  Guarantee guarantee() const override { return guarantee_; }
  void consume(const Batch&) override {}
  const PairTable& races() const override { return races_; }
  std::vector<DeadlockCandidate> deadlocks() const override { return deadlocks_; }
  std::vector<RacePlan> plans() const override { return plans_; }
  std::vector<MisuseCandidate> misuses() const override { return misuses_; }
  const LockSetTable& lock_sets() const override { return lock_sets_; }
  std::vector<std::string> notes() const override { return notes_; }
  std::vector<std::pair<std::string, std::string>> stats() const override { return stats_; }

 private:
  const Guarantee guarantee_;
  const PairTable races_;
  const LockSetTable lock_sets_;
  const std::vector<DeadlockCandidate> deadlocks_;
  const std::vector<RacePlan> plans_;
  const std::vector<MisuseCandidate> misuses_;
  const std::vector<std::string> notes_;
  const std::vector<std::pair<std::string, std::string>> stats_;
};

}  // namespace

std::unique_ptr<Detector> stop_detector(std::unique_ptr<Detector> detector) {
  return std::make_unique<StoppedDetector>(*detector);
}

}  // namespace sooth
