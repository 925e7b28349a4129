#include "order/vector_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "order/thread_clocks.h"

namespace sooth {
namespace {

constexpr ThreadId T0{0}, T1{1}, T2{2}, T9{9};

VectorClock clock(std::initializer_list<Time> times) {
  VectorClock result;
  std::uint32_t thread = 0;
  for (const Time time : times) {
    result.set(ThreadId{thread++}, time);
  }
  return result;
}

TEST(EpochTest, HoldsThreadAndTime) {
  const Time most = ~Time{0};
  for (const auto& [thread, time] :
       {std::pair{T0, Time{1}}, {T9, most}, {ThreadId{~0u}, Time{0}}, {ThreadId{~0u}, most}}) {
    EXPECT_EQ(Epoch(thread, time).thread(), thread);
    EXPECT_EQ(Epoch(thread, time).time(), time);
  }
  EXPECT_EQ(Epoch(), Epoch(T0, 0));
  EXPECT_NE(Epoch(T0, 1), Epoch(T1, 1));
}

TEST(VectorClockTest, JoinIsTheComponentWiseMaximum) {
  const struct {
    VectorClock a, b;
    std::initializer_list<Time> joined;
  } table[] = {
      {clock({}), clock({}), {}},
      {clock({1, 2, 3}), clock({}), {1, 2, 3}},
      {clock({}), clock({1, 2, 3}), {1, 2, 3}},
      {clock({5, 0}), clock({1, 2, 3}), {5, 2, 3}},
      {clock({1, 2, 3, 4, 5, 6, 7, 8, 9}), clock({9, 8, 7, 6, 5, 4, 3, 2, 1}), {9, 8, 7, 6, 5, 6, 7, 8, 9}},
      {clock({0x80000000}), clock({0x7fffffff}), {0x80000000}},  // unsigned
  };
  for (const auto& row : table) {
    VectorClock joined = row.a;
    joined.join(row.b);
    std::uint32_t thread = 0;
    for (const Time time : row.joined) {
      EXPECT_EQ(joined[ThreadId{thread++}], time);
    }
    EXPECT_TRUE(joined.covers(row.a));
    EXPECT_TRUE(joined.covers(row.b));
  }
}

TEST(VectorClockTest, OfOthersIsAsShortAsItCanBe) {
  const struct {
    VectorClock whole;
    ThreadId thread;
    std::vector<Time> others;
  } table[] = {
      {clock({}), T0, {}},
      {clock({7}), T0, {}},
      {clock({7}), T9, {7}},
      {clock({5, 0, 0, 8}), ThreadId{3}, {5}},
      {clock({5, 2, 0, 8}), T1, {5, 0, 0, 8}},
      {clock({0, 0, 3}), T0, {0, 0, 3}},
      {clock({0, 4, 0}), T1, {}},
  };
  for (const auto& row : table) {
    const VectorClock others = row.whole.of_others(row.thread);
    EXPECT_EQ(std::vector<Time>(others.times().begin(), others.times().end()), row.others);
  }
}

TEST(VectorClockTest, CoversComparesEveryComponent) {
  const struct {
    VectorClock a, b;
    bool covered;  // a, by b
  } table[] = {
      {clock({}), clock({}), true},
      {clock({0, 0}), clock({}), true},
      {clock({1}), clock({}), false},
      {clock({1, 2}), clock({1, 2}), true},
      {clock({1, 2}), clock({2, 1}), false},
      {clock({1}), clock({1, 7}), true},
      {clock({0, 0, 1}), clock({9, 9}), false},
  };
  for (const auto& row : table) {
    EXPECT_EQ(row.b.covers(row.a), row.covered);
  }
}

TEST(VectorClockTest, KnowsEpochs) {
  const VectorClock c = clock({3, 0, 5});
  EXPECT_TRUE(c.knows({T0, 3}));
  EXPECT_FALSE(c.knows({T0, 4}));
  EXPECT_FALSE(c.knows({T1, 1}));
  EXPECT_TRUE(c.knows({T9, 0})) << "before its first event";
  EXPECT_FALSE(c.knows({T9, 1}));
  EXPECT_TRUE(VectorClock().knows(Epoch())) << "no event is known to everybody";
}

TEST(ThreadClocksTest, EachThreadStartsAtOneAndAdvancesAlone) {
  ThreadClocks clocks;
  EXPECT_EQ(clocks.time(T2), 1u);
  clocks.advance(T2);
  EXPECT_EQ(clocks.time(T2), 2u);
  EXPECT_EQ(clocks.time(T0), 1u);
  EXPECT_EQ(clocks.of(T0)[T2], 0u);
}

TEST(PackedClock, GivesBackTheClock) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    VectorClock clock;
    const auto threads = static_cast<std::uint32_t>(random() % 300);
    const std::uint64_t values = 1 + random() % 4;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      clock.set(ThreadId{thread}, static_cast<Time>(random() % values * (random() % 8 == 0 ? 0xffffffu : 1u)));
    }
    const VectorClock back = PackedClock(clock).unpack();
    ASSERT_TRUE(std::equal(clock.times().begin(), clock.times().end(), back.times().begin(), back.times().end()))
        << "round " << round;
  }
}

TEST(PackedClock, IsShortWhereThreadsAreAlike) {
  VectorClock clock;
  clock.set(ThreadId{100'000}, 7);
  EXPECT_LE(PackedClock(clock).memory(), 8u) << "mostly zeros";
}

TEST(ThreadClocksTest, AClockThatRestsIsBackWhenItIsAskedFor) {
  ThreadClocks clocks;
  clocks.of(ThreadId{5'000}).set(ThreadId{3}, 9);
  const std::size_t before = clocks.memory();
  clocks.rest(ThreadId{5'000});
  clocks.rest(ThreadId{5'000});
  clocks.rest(ThreadId{9'000});
  EXPECT_LT(clocks.memory() + 19'000, before);
  EXPECT_EQ(clocks.time(ThreadId{5'000}), 1u);
  EXPECT_EQ(clocks.of(ThreadId{5'000})[ThreadId{3}], 9u);
}

}  // namespace
}  // namespace sooth
