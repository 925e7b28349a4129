#include "trace/format/event_spool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace sooth {
namespace {

constexpr std::uint32_t kThreads = 300;

std::vector<Event> some_events(std::mt19937_64& random, std::size_t count) {
  std::vector<Event> events(count);
  for (Event& e : events) {
    e.object = random() % 3 == 0 ? random() : 0x7f0000000000 + random() % 4096;
    e.thread = ThreadId(static_cast<std::uint32_t>(random() % kThreads));
    e.site = SiteId(static_cast<std::uint32_t>(random() % 20'000));
    e.size = static_cast<std::uint32_t>(1u << random() % 4);
    e.op = random() % 2 == 0 ? Op::kRead : Op::kWrite;
  }
  return events;
}

struct Kept {
  std::vector<Event> events;
  std::vector<StackId> stacks;
};

void add(EventSpool& spool, Kept& expected, std::mt19937_64& random, std::size_t count, bool with_stacks) {
  const std::vector<Event> events = some_events(random, count);
  std::vector<StackId> stacks(with_stacks ? count : 0);
  for (StackId& stack : stacks) {
    stack = StackId(static_cast<std::uint32_t>(random() % 5));
  }
  Batch batch;
  batch.first = EventId{expected.events.size()};
  batch.events = events;
  batch.stacks = stacks;
  ASSERT_TRUE(spool.add(batch).ok());
  expected.events.insert(expected.events.end(), events.begin(), events.end());
  stacks.resize(count, kNoStack);
  expected.stacks.insert(expected.stacks.end(), stacks.begin(), stacks.end());
}

// Up to so many batches; returns how many there were.
std::size_t take(EventSpool& spool, Kept& found, std::size_t most) {
  for (std::size_t taken = 0; taken < most; ++taken) {
    const Result<Batch> batch = spool.next();
    EXPECT_TRUE(batch.ok());
    if (!batch.ok() || batch->empty()) {
      return taken;
    }
    EXPECT_EQ(raw(batch->first), found.events.size());
    for (std::size_t i = 0; i < batch->events.size(); ++i) {
      found.events.push_back(batch->events[i]);
      found.stacks.push_back(batch->stack(i));
    }
    EXPECT_EQ(raw(spool.first()), found.events.size());
  }
  return most;
}

TEST(EventSpool, GivesBackWhatWasPutInWhileMoreIsPutIn) {
  std::mt19937_64 random(7);
  EventSpool spool(::testing::TempDir());
  Kept expected;
  Kept found;
  EXPECT_EQ(take(spool, found, 1), 0u);
  for (int round = 0; round < 60; ++round) {
    add(spool, expected, random, random() % 9000, round % 3 != 0);
    if (random() % 2 == 0) {
      take(spool, found, random() % 12);
    }
  }
  const std::uint64_t full = spool.bytes();
  take(spool, found, SIZE_MAX);
  EXPECT_EQ(found.events, expected.events);
  EXPECT_EQ(found.stacks, expected.stacks);
  EXPECT_GT(full, 0u);
  EXPECT_EQ(spool.bytes(), 0u);
}

TEST(EventSpool, LosesNothingWhereThereIsNoDisk) {
  std::mt19937_64 random(7);
  EventSpool spool("/does/not/exist");
  const std::vector<Event> events = some_events(random, 200'000);
  Batch batch;
  batch.events = events;
  const Status status = spool.add(batch);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("/does/not/exist"), std::string::npos);
  Kept found;
  take(spool, found, SIZE_MAX);
  EXPECT_EQ(found.events, events);
}

}  // namespace
}  // namespace sooth
