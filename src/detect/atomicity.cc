#include "detect/atomicity.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "detect/serializability.h"
#include "detect/split_sections.h"
#include "order/lock_set.h"

namespace sooth {
namespace {

// Sites of the three places of a finding, at most so many: what is more tells nobody anything.
constexpr std::size_t kMostFound = 1'000;

class AtomicityDetector final : public Detector {
 public:
  explicit AtomicityDetector(const DetectorOptions& options)
      : is_atomic_(options.is_atomic), blocks_([this](const AtomicityCandidate& violated) { add(violated); }) {}

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return locks_.table(); }

  void consume(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      const Event& e = batch.events[i];
      const AccessRecord record{e, batch.id(i), 0, locks_.of(e.thread), batch.stack(i)};
      const bool calls = e.op == Op::kEnter || e.op == Op::kExit;
      blocks_.consume(record, calls && is_atomic_ && is_atomic_(static_cast<SiteId>(e.object)));
      splits_.consume(record, blocks_.block_of(e.thread));
      if (e.op == Op::kAcquire) {
        locks_.acquire(e);
      } else if (e.op == Op::kRelease) {
        locks_.release(e);
      }
    }
  }

  // A block that the run has violated where its sections are split is one finding, and that has their places: runs can be
  // steered there.
  void finish() override {
    blocks_.finish();
    for (AtomicityCandidate split : splits_.found()) {
      const auto violated = std::find_if(found_.begin(), found_.end(), [&](const AtomicityCandidate& each) {
        return split.declared && each.observed && each.second.id == split.second.id;
      });
      if (violated == found_.end()) {
        add(split);
        continue;
      }
      split.observed = true;
      split.times = violated->times;
      *violated = split;
    }
  }

  std::vector<AtomicityCandidate> atomicity() const override { return found_; }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    const auto observed = std::count_if(found_.begin(), found_.end(), [](const auto& each) { return each.observed; });
    return {{"violated blocks", std::to_string(observed)},
            {"split sections", std::to_string(found_.size() - static_cast<std::size_t>(observed))}};
  }

 private:
  void add(const AtomicityCandidate& candidate) {
    const auto key = std::tuple(candidate.first.event.site, candidate.other.event.site, candidate.second.event.site,
                                candidate.observed, candidate.declared);
    const auto [it, added] = index_.try_emplace(key, found_.size());
    if (!added) {
      found_[it->second].times += candidate.times;
    } else if (found_.size() < kMostFound) {
      found_.push_back(candidate);
    } else {
      index_.erase(it);
    }
  }

  std::function<bool(SiteId)> is_atomic_;
  LockSets locks_;
  Serializability blocks_;
  SplitSections splits_;
  PairTable races_;                                                              // none
  std::map<std::tuple<SiteId, SiteId, SiteId, bool, bool>, std::size_t> index_;  // into found_
  std::vector<AtomicityCandidate> found_;
};

}  // namespace

std::unique_ptr<Detector> make_atomicity_detector(const DetectorOptions& options) {
  return std::make_unique<AtomicityDetector>(options);
}

}  // namespace sooth
