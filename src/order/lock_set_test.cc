#include "order/lock_set.h"

#include <gtest/gtest.h>

#include <map>

#include "oracle/random.h"

namespace sooth {
namespace {

constexpr ThreadId kThread0{0}, kThread1{1};

Event lock_event(ThreadId thread, Op op, std::uint64_t lock, bool shared = false) {
  Event e;
  e.thread = thread;
  e.op = op;
  e.object = lock;
  e.flags = shared ? kShared : 0;
  return e;
}

TEST(HeldLocksTest, OnlyTheOutermostAcquireAndTheLastReleaseCount) {
  HeldLocks held;
  EXPECT_TRUE(held.acquire(lock_event(kThread0, Op::kAcquire, 7, true)));
  EXPECT_FALSE(held.acquire(lock_event(kThread0, Op::kAcquire, 7)));
  EXPECT_TRUE(held.acquire(lock_event(kThread1, Op::kAcquire, 7, true))) << "threads are separate";
  EXPECT_TRUE(held.acquire(lock_event(kThread0, Op::kAcquire, 3)));
  ASSERT_EQ(held.of(kThread0).size(), 2u);
  EXPECT_EQ(held.of(kThread0)[0].lock, 7u) << "in order of acquisition";

  HeldLock section;
  EXPECT_FALSE(held.release(lock_event(kThread0, Op::kRelease, 7), &section));
  EXPECT_EQ(section.depth, 2u);
  EXPECT_TRUE(held.release(lock_event(kThread0, Op::kRelease, 7, true), &section));
  EXPECT_TRUE(section.shared) << "the mode of the outermost acquire";
  EXPECT_FALSE(held.release(lock_event(kThread0, Op::kRelease, 7))) << "not held";
  ASSERT_EQ(held.of(kThread0).size(), 1u);
  EXPECT_EQ(held.of(kThread0)[0].lock, 3u);
}

// Sets as std::map from lock to "held shared": the obvious version.
using Model = std::map<std::uint64_t, bool>;

Model model_of(const LockSetTable& table, LockSetId set) {
  Model model;
  for (const LockMode& lock : table.locks(set)) {
    model[lock.lock] = lock.shared;
  }
  return model;
}

TEST(LockSetTableTest, EqualsAMapOnRandomSets) {
  oracle::Random random(1);
  LockSetTable table;
  std::map<Model, LockSetId> known{{{}, kNoLocks}};
  std::vector<std::pair<Model, LockSetId>> sets{{{}, kNoLocks}};
  const auto learn = [&](const Model& model, LockSetId set) {
    EXPECT_EQ(model_of(table, set), model);
    EXPECT_EQ(known.try_emplace(model, set).first->second, set) << "equal sets have equal ids";
    sets.emplace_back(model, set);
  };
  for (int i = 0; i < 5000; ++i) {
    const auto [model, set] = sets[random.below(sets.size())];
    const std::uint64_t lock = random.below(6);
    const bool shared = random.below(2) == 0;
    Model changed = model;
    if (changed.erase(lock) != 0) {
      learn(changed, table.without(set, lock));
    } else {
      changed[lock] = shared;
      learn(changed, table.with(set, {lock, shared}));
    }
    const auto [other, other_set] = sets[random.below(sets.size())];
    Model common;
    Model exclusive;
    bool protects = false;
    for (const auto& [mine, mine_shared] : model) {
      if (!mine_shared) {
        exclusive[mine] = false;
      }
      if (const auto it = other.find(mine); it != other.end()) {
        common[mine] = mine_shared || it->second;
        protects = protects || !mine_shared || !it->second;
      }
    }
    EXPECT_EQ(table.protects(set, other_set), protects);
    EXPECT_EQ(table.protects(other_set, set), protects);
    EXPECT_EQ(table.overlap(set, other_set), !common.empty());
    EXPECT_EQ(table.intersect(other_set, set), table.intersect(set, other_set));
    learn(common, table.intersect(set, other_set));
    learn(exclusive, table.exclusive(set));
    ASSERT_FALSE(HasFailure()) << "step " << i;
  }
  EXPECT_LE(table.size(), 729u) << "3 to the 6th: each of 6 locks is absent, shared or exclusive";
}

TEST(LockSetsTest, FollowSectionsOfEachThread) {
  LockSets sets;
  EXPECT_EQ(sets.of(kThread1), kNoLocks);
  EXPECT_TRUE(sets.acquire(lock_event(kThread0, Op::kAcquire, 1)));
  const LockSetId one = sets.of(kThread0);
  EXPECT_FALSE(sets.acquire(lock_event(kThread0, Op::kAcquire, 1, true)));
  EXPECT_EQ(sets.of(kThread0), one) << "re-entrant: nothing changes";
  EXPECT_TRUE(sets.acquire(lock_event(kThread0, Op::kAcquire, 2, true)));
  EXPECT_EQ(model_of(sets.table(), sets.of(kThread0)), (Model{{1, false}, {2, true}}));
  EXPECT_FALSE(sets.release(lock_event(kThread0, Op::kRelease, 1)));
  EXPECT_TRUE(sets.release(lock_event(kThread0, Op::kRelease, 1)));
  EXPECT_EQ(model_of(sets.table(), sets.of(kThread0)), (Model{{2, true}}));
  EXPECT_FALSE(sets.release(lock_event(kThread1, Op::kRelease, 2))) << "kThread1 holds nothing";
  EXPECT_TRUE(sets.release(lock_event(kThread0, Op::kRelease, 2)));
  EXPECT_EQ(sets.of(kThread0), kNoLocks);
}

}  // namespace
}  // namespace sooth
