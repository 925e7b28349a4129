// Which atomics and semaphores are taken for locks, and how a trace looks that has them.
#include "order/made_locks.h"

#include <gtest/gtest.h>

#include <string>

#include "order/lock_view.h"

namespace sooth {
namespace {

constexpr std::uint64_t kWord = 0x1000, kTurn = 0x2000, kSemaphore = 0x3000, kData = 0x4000;

// Steps of threads 1 and 2, which thread 0 has forked.
class Steps {
 public:
  Steps() {
    for (std::uint32_t child : {1u, 2u}) {
      add({.object = child, .thread = ThreadId{0}, .op = Op::kFork});
    }
  }
  Steps& atomic(std::uint32_t thread, Op op, std::uint64_t value, std::uint64_t address = kWord) {
    return add({.object = address,
                .thread = ThreadId{thread},
                .site = SiteId{raw_op(op)},
                .size = 4,
                .op = op,
                .order = MemoryOrder::kAcqRel},
               {value, 0, 4});
  }
  Steps& rmw(std::uint32_t t, std::uint64_t found, std::uint64_t at = kWord) {
    return atomic(t, Op::kAtomicRmw, found, at);
  }
  Steps& load(std::uint32_t t, std::uint64_t v, std::uint64_t at = kWord) { return atomic(t, Op::kAtomicLoad, v, at); }
  Steps& store(std::uint32_t t, std::uint64_t v, std::uint64_t at = kWord) {
    return atomic(t, Op::kAtomicStore, v, at);
  }
  Steps& plain(std::uint32_t thread, Op op, std::uint64_t value, std::uint64_t address = kWord) {
    return add({.object = address, .thread = ThreadId{thread}, .size = 4, .op = op}, {value, 0, 4});
  }
  Steps& wait(std::uint32_t t) { return add({.object = kSemaphore, .thread = ThreadId{t}, .op = Op::kSemWait}); }
  Steps& post(std::uint32_t t) { return add({.object = kSemaphore, .thread = ThreadId{t}, .op = Op::kSemPost}); }
  Steps& add(const Event& e, Value value = {}) {
    events_.push_back(e);
    values_.push_back(value);
    return *this;
  }

  std::vector<MadeLock> locks() const { return find_made_locks(events_, values_); }
  // "excludes reversible meant: T2 G3 ..." of the only lock; steps with the numbers of their events.
  std::string only() const {
    const std::vector<MadeLock> found = locks();
    return found.size() == 1 ? describe(found.front()) : std::to_string(found.size()) + " locks";
  }
  static std::string describe(const MadeLock& lock) {
    std::string text =
        std::string(lock.excludes ? "e" : "-") + (lock.reversible ? "r" : "-") + (lock.meant ? "m" : "-");
    for (const MadeLock::Step& step : lock.steps) {
      text += std::string(" ") + "TGXF"[static_cast<int>(step.role)] + std::to_string(raw(step.event));
    }
    return text;
  }
  Batch batch() const {
    Batch all;
    all.events = events_;
    return all;
  }

 private:
  static std::uint32_t raw_op(Op op) { return static_cast<std::uint32_t>(op); }
  std::vector<Event> events_;
  std::vector<Value> values_;
};

TEST(MadeLocks, ASpinLockIsOne) {
  EXPECT_EQ(Steps().rmw(1, 0).store(1, 0).rmw(2, 0).store(2, 0).only(), "erm T2 G3 T4 G5");
}

TEST(MadeLocks, WhoFindsItTakenFails) {
  EXPECT_EQ(Steps().rmw(1, 0).load(2, 1).store(1, 0).rmw(2, 0).store(2, 0).only(), "erm T2 X3 G4 T5 G6");
  // What an exchange leaves that found it taken is not on record: who is left out is seen by others.
  EXPECT_EQ(Steps().rmw(1, 0).rmw(2, 1).store(1, 0).rmw(2, 0).store(2, 0).only(), "e-m T2 X3 G4 T5 G6");
}

TEST(MadeLocks, WhoLooksFirstFindsItFree) {
  EXPECT_EQ(Steps().load(1, 0).rmw(1, 0).store(1, 0).load(2, 0).rmw(2, 0).store(2, 0).only(), "erm F2 T3 G4 F5 T6 G7");
}

TEST(MadeLocks, AStoreBySomebodyElseIsNoLock) {
  EXPECT_EQ(Steps().rmw(1, 0).store(2, 0).rmw(2, 0).store(2, 0).only(), "0 locks");
}

TEST(MadeLocks, AnRmwThatLeavesItFreeIsNoLock) {
  EXPECT_EQ(Steps().rmw(1, 0).rmw(2, 0).store(2, 0).only(), "0 locks");
  EXPECT_EQ(Steps().rmw(1, 0).load(1, 0).store(1, 0).only(), "0 locks");
}

TEST(MadeLocks, AFlagThatIsNeverGivenBackIsNotMeantAsALock) {
  EXPECT_EQ(Steps().rmw(1, 0).rmw(2, 1).only(), "e-- T2 X3");
  EXPECT_EQ(Steps().rmw(1, 0).store(1, 2).load(2, 2).only(), "e-- T2 X4");
}

TEST(MadeLocks, InitialisationComesFirst) {
  EXPECT_EQ(Steps().plain(0, Op::kWrite, 0).rmw(0, 0).store(0, 0).only(), "erm T3 G4");
  // Thread 2 does not know that thread 1 has written.
  EXPECT_EQ(Steps().store(1, 0).rmw(2, 0).store(2, 0).only(), "0 locks");
  EXPECT_EQ(Steps().plain(1, Op::kWrite, 0).rmw(2, 0).store(2, 0).only(), "0 locks") << "watched";
}

TEST(MadeLocks, CountsOfReferencesAreNotMeantAsLocks) {
  EXPECT_EQ(Steps().rmw(1, 1).rmw(1, 2).rmw(2, 1).rmw(2, 2).only(), "e-- T2 G3 T4 G5");
  // Another thread has waited for it: a semaphore of an atomic.
  EXPECT_EQ(Steps().rmw(1, 1).load(2, 0).rmw(1, 0).rmw(2, 1).rmw(2, 0).only(), "e-m T2 X3 G4 T5 G6");
}

TEST(MadeLocks, OtherBytesRuleItOut) {
  EXPECT_EQ(
      Steps().rmw(1, 0).store(1, 0).add({.object = kWord + 2, .thread = ThreadId{1}, .size = 1}, {0, 0, 1}).only(),
      "0 locks");
  EXPECT_EQ(Steps().rmw(1, 0).add({.object = kWord, .thread = ThreadId{1}, .size = 4, .op = Op::kAtomicStore}).only(),
            "0 locks")
      << "without a value";
}

TEST(MadeLocks, MemoryThatIsAllocatedAnewIsAnotherWord) {
  const Event alloc{.object = kWord - 8, .thread = ThreadId{1}, .size = 64, .op = Op::kAlloc};
  const std::vector<MadeLock> found = Steps().rmw(1, 0).store(1, 0).add(alloc).rmw(1, 7).store(1, 7).locks();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(Steps::describe(found[0]), "erm T2 G3");
  EXPECT_EQ(Steps::describe(found[1]), "erm T5 G6");
}

TEST(MadeLocks, ATicketLockIsMeantAsOne) {
  Steps steps;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t thread = 1 + i % 2;
    steps.rmw(thread, i).load(thread, i, kTurn).store(thread, i + 1, kTurn);
  }
  std::vector<std::string> texts;
  for (const MadeLock& lock : steps.locks()) {
    if (lock.meant) {
      EXPECT_EQ(lock.object, kTurn);
      EXPECT_EQ(lock.words.size(), 2u);
      texts.push_back(Steps::describe(lock));
    }
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"--m T3 G4 T6 G7 T9 G10"}));
  // A progress counter has no tickets.
  EXPECT_EQ(Steps().load(1, 0, kTurn).store(1, 1, kTurn).load(2, 1, kTurn).store(2, 2, kTurn).only(), "0 locks");
}

TEST(MadeLocks, ASemaphoreOfOneIsALock) {
  EXPECT_EQ(Steps().wait(1).post(1).wait(2).post(2).only(), "erm T2 G3 T4 G5");
  EXPECT_EQ(Steps().post(1).wait(2).post(2).only(), "0 locks") << "who posted it first comes first";
  EXPECT_EQ(Steps().wait(1).wait(2).post(1).post(2).only(), "0 locks") << "two at first";
  EXPECT_EQ(Steps().wait(1).post(2).wait(1).post(2).only(), "0 locks") << "a signal";
}

TEST(MadeLocks, TooManyStepsAreNone) {
  Steps steps;
  steps.rmw(1, 0).store(1, 0).rmw(2, 0).store(2, 0);
  MadeLockFinder finder(3);
  finder.consume(steps.batch());
  EXPECT_TRUE(finder.finish().empty());
}

TEST(LockView, HasSectionsInPlaceOfOrder) {
  Steps steps;
  steps.rmw(1, 0).plain(1, Op::kWrite, 1, kData).store(1, 0).load(2, 0).rmw(2, 0).load(1, 1).store(2, 0);
  LockView view(steps.locks(), LockView::Of::kReversible);
  const Batch shown = view.show(steps.batch());
  std::string text;
  for (std::size_t i = 2; i < shown.events.size(); ++i) {
    const Event& e = shown.events[i];
    EXPECT_FALSE(is_atomic(e.op) && e.order != MemoryOrder::kNotAtomic);
    text += std::string(op_name(e.op)) + " " + std::to_string(raw(shown.id(i))) + ", ";
  }
  EXPECT_EQ(text,
            "atomic rmw 2, acquire 2, write 3, atomic store 4, release 4, atomic load 5, acquire 5, release 5, "
            "atomic rmw 6, acquire 6, atomic load 7, failed acquire 7, atomic store 8, release 8, ");
}

TEST(LockView, LeavesOtherTracesAlone) {
  Steps steps;
  steps.rmw(1, 1).rmw(1, 2).rmw(2, 1).rmw(2, 2);
  LockView view(steps.locks(), LockView::Of::kMeant);
  EXPECT_TRUE(view.empty());
  EXPECT_EQ(view.show(steps.batch()).events.data(), steps.batch().events.data());
}

}  // namespace
}  // namespace sooth
