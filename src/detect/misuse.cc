#include "detect/misuse.h"

#include <unordered_map>
#include <vector>

#include "base/flat_map.h"
#include "detect/freed_memory.h"
#include "order/lock_set.h"

namespace sooth {
namespace {

class MisuseDetector final : public Detector {
 public:
  Guarantee guarantee() const override { return Guarantee::kSound; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<MisuseCandidate> misuses() const override { return found_; }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    return {{"misuses", std::to_string(found_.size())}};
  }

  void consume(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      const Event& e = batch.events[i];
      if (is_access(e.op)) {
        if (const AccessRecord* free = freed_.find(e.object, e.size); free != nullptr) [[unlikely]] {
          add_use(*free, record_of(batch, i));
        }
      } else if (e.op == Op::kAlloc) {
        freed_.allocate(e.object, e.size);
      } else if (e.op == Op::kFree) {
        freed_.free(record_of(batch, i));
      } else if (e.op == Op::kAcquire) {
        locks_.acquire(e);
      } else if (e.op == Op::kRelease) {
        locks_.release(e);
      } else if (e.op == Op::kFork) {
        remember_fork(record_of(batch, i));
      } else if (e.op == Op::kJoin) {
        forks_.erase(e.object);
      } else if (e.op == Op::kMisuse && MisuseKind(e.size) != MisuseKind::kDestroy) {  // hb judges those
        add(record_of(batch, i));
      }
    }
  }

 private:
  AccessRecord record_of(const Batch& batch, std::size_t i) const {
    const Event& e = batch.events[i];
    return {e, batch.id(i), 0, locks_.of(e.thread), batch.stack(i)};
  }

  void remember_fork(const AccessRecord& fork) { forks_[fork.event.object] = fork; }

  void add(const AccessRecord& misuse) {
    const auto kind = MisuseKind(misuse.event.size);
    const std::uint64_t object = misuse.event.object;
    const AccessRecord* fork = kind == MisuseKind::kThreadLeak ? forks_.find(object) : nullptr;
    const AccessRecord& call = fork != nullptr ? *fork : misuse;
    const std::uint64_t key = std::uint64_t{raw(call.event.site)} << 8 | raw(kind);
    const auto [it, added] = index_.try_emplace(key, found_.size());
    if (added) {
      found_.push_back({kind, call});
    } else {
      ++found_[it->second].times;
    }
  }

  void add_use(const AccessRecord& free, const AccessRecord& use) {
    const std::uint64_t sites = std::uint64_t{raw(free.event.site)} << 32 | raw(use.event.site);
    const auto [it, added] = uses_.try_emplace(sites, found_.size());
    if (added) {
      found_.push_back({MisuseKind::kUseAfterFree, use, free});
    } else {
      ++found_[it->second].times;
    }
  }

  LockSets locks_;
  FreedMemory freed_;
  PairTable races_;                                       // none
  FlatMap<AccessRecord> forks_;                           // by the new thread, until somebody joins it
  std::unordered_map<std::uint64_t, std::size_t> index_;  // site << 8 | kind, into found_
  std::unordered_map<std::uint64_t, std::size_t> uses_;   // site of the free << 32 | site of the use, into found_
  std::vector<MisuseCandidate> found_;
};

}  // namespace

std::unique_ptr<Detector> make_misuse_detector() { return std::make_unique<MisuseDetector>(); }

}  // namespace sooth
