#include "race/witness_semaphores.h"

namespace sooth {

bool WitnessSemaphores::add(const Event& e) {
  if (e.op == Op::kAlloc) {
    const auto end = semaphores_.upper_bound(e.object + (e.size - 1));
    for (auto it = semaphores_.lower_bound(e.object); it != end && e.size != 0; ++it) {
      it->second.renewed = true;
    }
    return false;
  }
  if (e.op != Op::kSemPost && e.op != Op::kSemWait) {
    return false;
  }
  Semaphore& semaphore = semaphores_[e.object];
  if (semaphore.renewed) {
    return false;
  }
  if (e.op == Op::kSemPost) {
    ++semaphore.count;
  } else if (semaphore.count == 0) {
    ++semaphore.first;
  } else {
    --semaphore.count;
  }
  return true;
}

std::uint64_t WitnessSemaphores::first_count(std::uint64_t semaphore) const {
  const auto it = semaphores_.find(semaphore);
  return it == semaphores_.end() ? 0 : it->second.first;
}

// What it held at first only counts when posts are not enough: most traces have that as posts, too.
bool SemaphoreCounts::pass(const Event& e) {
  std::int64_t& count = counts_[e.object];
  count += e.op == Op::kSemPost ? 1 : -1;
  if (count >= 0) {
    return true;
  }
  for (std::size_t i = 0; i < trace_.size() && !scanned_; ++i) {
    all_.add(trace_[i]);
  }
  scanned_ = true;
  return count + static_cast<std::int64_t>(all_.first_count(e.object)) >= 0;
}

}  // namespace sooth
