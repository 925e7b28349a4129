#include "detect/ipa_shapes.h"

namespace sooth {

void LockShapes::step(ThreadId thread, std::uint64_t lock, bool acquire, bool shared, LockSetId held) {
  if (raw(thread) >= current_.size()) {
    current_.resize(raw(thread) + 1);
  }
  LockSetId& current = current_[raw(thread)];
  if (held == kNoLocks) {
    current = kNoLocks;
    return;
  }
  const std::uint8_t kind = !acquire ? kGives : shared ? kTakesShared : kTakes;
  std::uint32_t& known = shapes_[raw(current)].next[kind][lock];
  if (known != 0) [[likely]] {
    current = LockSetId{known - 1};
    return;
  }
  const std::uint32_t from = raw(current);
  current = LockSetId{shape_after(from, held)};  // which may move the shapes
  shapes_[from].next[kind][lock] = raw(current) + 1;
}

std::uint32_t LockShapes::shape_after(std::uint32_t from, LockSetId held) {
  if (raw(held) >= of_set_.size()) {
    of_set_.resize(raw(held) + 1);
  }
  OfSet& of_set = of_set_[raw(held)];
  const bool vague = shapes_[from].vague || of_set.count >= count_;
  if (vague && of_set.vague != 0) {
    return of_set.vague;
  }
  const auto shape = static_cast<std::uint32_t>(shapes_.size());
  shapes_.emplace_back();
  shapes_.back().locks = held;
  shapes_.back().vague = vague;
  if (vague) {
    of_set.vague = shape;
  } else {
    ++of_set.count;
  }
  return shape;
}

}  // namespace sooth
