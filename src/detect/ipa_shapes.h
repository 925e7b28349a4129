// How the locks that a thread holds came to be held: what tells accesses of one site apart for IPA.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "order/lock_set.h"

namespace sooth {

// The shape of a moment is the sequence of lock steps that a thread has made since it last held no lock. Interned:
// equal shapes have equal ids. Ids are LockSetIds, so that an AccessLog can have them in its keys; locks() says which
// set a shape ends with.
//
// Of each set of locks only so many shapes are told apart. All others of the set are one, `vague`, and so is what
// follows them until the thread holds no lock again: so there are at most that many more shapes than sets.
class LockShapes {
 public:
  // `count`: shapes told apart of each set.
  explicit LockShapes(std::uint32_t count) : count_(count), shapes_(1) {}

  // The thread has made a step, and now holds `held`.
  void step(ThreadId thread, std::uint64_t lock, bool acquire, bool shared, LockSetId held);

  LockSetId of(ThreadId thread) const { return raw(thread) < current_.size() ? current_[raw(thread)] : kNoLocks; }
  LockSetId locks(LockSetId shape) const { return shapes_[raw(shape)].locks; }
  // It stands for several sequences.
  bool vague(LockSetId shape) const { return shapes_[raw(shape)].vague; }

 private:
  // What a step does.
  enum : std::uint8_t { kTakes, kTakesShared, kGives, kStepKinds };
  struct Shape {
    LockSetId locks = kNoLocks;
    bool vague = false;
    FlatMap<std::uint32_t> next[kStepKinds];  // by lock: the shape after that step, + 1
  };
  struct OfSet {
    std::uint32_t count = 0;
    std::uint32_t vague = 0;  // 0: there is none
  };

  std::uint32_t shape_after(std::uint32_t from, LockSetId held);

  const std::uint32_t count_;
  std::vector<Shape> shapes_;       // the first: no lock
  std::vector<OfSet> of_set_;       // by LockSetId
  std::vector<LockSetId> current_;  // by thread
};

}  // namespace sooth
