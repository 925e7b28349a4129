#include "trace/tools/thread_slots.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

Event event(Op op, std::uint32_t thread, std::uint64_t object = 0) {
  Event e;
  e.op = op;
  e.thread = ThreadId{thread};
  e.object = object;
  return e;
}

// The threads of the renamed events, and the objects of forks and joins, in one batch.
std::vector<Event> rename(ThreadSlots& slots, const std::vector<Event>& events) {
  Batch batch;
  batch.events = events;
  std::vector<Event> buffer;
  slots.follow(batch);
  const Batch renamed = slots.renamed(batch, buffer);
  return {renamed.events.begin(), renamed.events.end()};
}

TEST(ThreadSlots, AreTheThreadsUntilOneIsUsedAgain) {
  ThreadSlots slots;
  const std::vector<Event> trace = {event(Op::kFork, 0, 1), event(Op::kFork, 0, 2), event(Op::kWrite, 2),
                                    event(Op::kWrite, 1),   event(Op::kJoin, 0, 1), event(Op::kJoin, 0, 2)};
  EXPECT_EQ(rename(slots, trace), trace);
  EXPECT_EQ(slots.count(), 3u);
  EXPECT_EQ(slots.thread(ThreadId{2}, EventId{2}), ThreadId{2});
}

TEST(ThreadSlots, ManyThreadsOneAfterTheOtherNeedTwo) {
  ThreadSlots slots;
  std::vector<Event> trace;
  for (std::uint32_t t = 1; t <= 1'000; ++t) {
    trace.insert(trace.end(), {event(Op::kFork, 0, t), event(Op::kWrite, t), event(Op::kJoin, 0, t)});
  }
  const std::vector<Event> renamed = rename(slots, trace);
  EXPECT_EQ(slots.count(), 2u);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(slots.thread(renamed[i].thread, EventId{i}), trace[i].thread) << i;
    EXPECT_LT(raw(renamed[i].thread), 2u);
  }
  EXPECT_EQ(renamed[3 * 500].object, 1u);
  EXPECT_EQ(renamed[3 * 500 + 2].object, 1u);
}

// Whoever joins a thread may hand on what that thread could have handed on; nobody else may.
TEST(ThreadSlots, GoOnlyToThreadsThatComeAfter) {
  ThreadSlots slots;
  // 1 joins 2; 0, which does not know, forks 3; 0 joins 1 and forks 4 and 5.
  const std::vector<Event> renamed =
      rename(slots, {event(Op::kFork, 0, 1), event(Op::kFork, 1, 2), event(Op::kEnd, 2), event(Op::kJoin, 1, 2),
                     event(Op::kFork, 0, 3), event(Op::kEnd, 1), event(Op::kJoin, 0, 1), event(Op::kFork, 0, 4),
                     event(Op::kFork, 0, 5), event(Op::kFork, 0, 6)});
  EXPECT_EQ(renamed[4].object, 3u);
  EXPECT_EQ(renamed[7].object, 1u);
  EXPECT_EQ(renamed[8].object, 2u);
  EXPECT_EQ(renamed[9].object, 4u);
  EXPECT_EQ(slots.count(), 5u);
  EXPECT_EQ(slots.thread(ThreadId{1}, EventId{8}), ThreadId{4});
  EXPECT_EQ(slots.thread(ThreadId{1}, EventId{5}), ThreadId{1});
}

// Nobody knows when a thread is over that nobody joins.
TEST(ThreadSlots, OfThreadsThatNobodyJoinsAreKept) {
  ThreadSlots slots;
  rename(slots, {event(Op::kFork, 0, 1), event(Op::kEnd, 1), event(Op::kFork, 0, 2), event(Op::kEnd, 2)});
  EXPECT_EQ(slots.count(), 3u);
}

}  // namespace
}  // namespace sooth
