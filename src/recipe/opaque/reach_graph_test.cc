#include "recipe/opaque/reach_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>

namespace sooth {
namespace {

using Object = ReachGraph::Object;
using Ranges = std::vector<MemoryRange>;

constexpr ThreadId kMain{0}, kOtherThread{1};

// Blocks of 16 bytes from 0x1000 on, every 0x100, all touched by two threads.
class Blocks {
 public:
  explicit Blocks(std::size_t count, std::initializer_list<std::uint64_t> pages = {}) : graph(pages_with(pages)) {
    for (std::size_t i = 0; i < count; ++i) {
      objects.push_back(graph.add(range(i)));
      graph.touch(kMain, range(i).begin, 4);
      graph.touch(kOtherThread, range(i).begin + 8, 4);
    }
  }

  static MemoryRange range(std::size_t i) { return {0x1000 + 0x100 * i, 16}; }
  void point(std::size_t from, std::size_t to) { graph.store(range(from).begin + 8, range(to).begin + 4); }
  ReachGraph::Reached call(std::initializer_list<std::size_t> from, ThreadId thread = kOtherThread) {
    std::vector<Object> start;
    for (const std::size_t i : from) {
      start.push_back(objects[i]);
    }
    return graph.call(thread, start);
  }
  Ranges ranges(std::initializer_list<std::size_t> of) const {
    Ranges all;
    for (const std::size_t i : of) {
      all.push_back(range(i));
    }
    return all;
  }

  ReachGraph graph;
  std::vector<Object> objects;

 private:
  static FlatMap<bool> pages_with(std::initializer_list<std::uint64_t> pages) {
    FlatMap<bool> map;
    for (const std::uint64_t address : pages) {
      map[ReachGraph::page_of(address)] = true;
    }
    return map;
  }
};

TEST(ReachGraphTest, FollowsWordsFromBlockToBlock) {
  Blocks blocks(5);
  blocks.point(0, 1);
  blocks.point(1, 2);
  blocks.point(4, 0);  // leads there, not back
  const auto reached = blocks.call({0});
  const auto nothing = blocks.graph.call(kOtherThread, {});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(reached), blocks.ranges({0, 1, 2}));
  EXPECT_EQ(blocks.graph.ranges(nothing), Ranges{});
}

TEST(ReachGraphTest, AnAddressLeadsAnywhereIntoABlock) {
  Blocks blocks(2);
  Object found = ReachGraph::kOutside;
  EXPECT_TRUE(blocks.graph.find(0x100f, found));
  EXPECT_EQ(found, blocks.objects[0]);
  EXPECT_FALSE(blocks.graph.find(0x1010, found)) << "behind it";
  EXPECT_FALSE(blocks.graph.find(0xfff, found));
}

TEST(ReachGraphTest, IsAsFarAsItWasAtTheTime) {
  Blocks blocks(3);
  blocks.point(0, 1);
  const auto before = blocks.call({0});
  blocks.point(1, 2);  // an update of something that was looked at
  const auto after = blocks.call({0});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(before), blocks.ranges({0, 1}));
  EXPECT_EQ(blocks.graph.ranges(after), blocks.ranges({0, 1, 2}));
}

// The code that is called may have put the address of one into the other.
TEST(ReachGraphTest, WhatACallReachesIsOneFromThenOn) {
  Blocks blocks(3);
  const auto one = blocks.call({1});
  blocks.call({0, 1});
  const auto other = blocks.call({1});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(one), blocks.ranges({1}));
  EXPECT_EQ(blocks.graph.ranges(other), blocks.ranges({0, 1}));
}

TEST(ReachGraphTest, LeavesOutWhatOneThreadHasForItself) {
  Blocks blocks(1);
  const Object own = blocks.graph.add({0x8000, 8});
  blocks.graph.touch(kMain, 0x8000, 8);
  const Object lent = blocks.graph.add({0x9000, 8});
  blocks.graph.touch(kMain, 0x9000, 8);
  const Object constant = blocks.graph.add({0xa000, 8}, true);
  blocks.graph.touch(kMain, 0xa000, 8);
  const auto of_main = blocks.graph.call(kMain, std::vector{own});
  const auto of_other = blocks.graph.call(kOtherThread, std::vector{lent, constant});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(of_main), Ranges{});
  EXPECT_EQ(blocks.graph.ranges(of_other), (Ranges{{0x9000, 8}}))
      << "main touches it, a call of the other thread reaches it";
}

TEST(ReachGraphTest, WhatIsInThePlaceOfAnotherBlockIsNew) {
  Blocks blocks(2);
  blocks.point(0, 1);
  blocks.call({0});
  const Object again = blocks.graph.add(Blocks::range(1));  // 1 was freed
  blocks.graph.touch(kMain, Blocks::range(1).begin, 4);
  blocks.graph.touch(kOtherThread, Blocks::range(1).begin, 4);
  const auto first = blocks.call({0});
  const auto second = blocks.graph.call(kOtherThread, std::vector{again});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(first), blocks.ranges({0}));
  EXPECT_EQ(blocks.graph.ranges(second), blocks.ranges({1}));
}

// Code that keeps what it is given, and memory of which nobody knows what is in it.
TEST(ReachGraphTest, TheOutsideKeepsWhatItGets) {
  Blocks blocks(4);
  const std::vector<Object> given{ReachGraph::kOutside, blocks.objects[0]};
  blocks.graph.call(kMain, given);
  const auto later = blocks.graph.call(kOtherThread, std::vector{Object{ReachGraph::kOutside}});
  blocks.graph.store_unknown(Blocks::range(2).begin, 16);
  const auto unknown = blocks.call({2});
  const auto unrelated = blocks.call({3});
  blocks.graph.finish();
  const MemoryRange own{ReachGraph::kOwnState, 1};
  EXPECT_EQ(blocks.graph.ranges(later), (Ranges{own, Blocks::range(0)}));
  EXPECT_EQ(blocks.graph.ranges(unknown), (Ranges{own, Blocks::range(0), Blocks::range(2)}));
  EXPECT_EQ(blocks.graph.ranges(unrelated), blocks.ranges({3}));
}

TEST(ReachGraphTest, ACopyLeadsWhereTheOriginalDoes) {
  Blocks blocks(4);
  blocks.point(0, 1);
  blocks.graph.copy(Blocks::range(0).begin, Blocks::range(2).begin, 16);
  const auto reached = blocks.call({2});
  const auto other = blocks.call({3});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(reached), blocks.ranges({0, 1, 2}));
  EXPECT_EQ(blocks.graph.ranges(other), blocks.ranges({3}));
}

TEST(ReachGraphTest, MemoryInNoBlockBelongsToTheOutside) {
  Blocks blocks(1, {0x70000});
  blocks.graph.touch(kMain, 0x70010, 4);
  blocks.graph.touch(kOtherThread, 0x70010, 4);
  blocks.graph.touch(kMain, 0x70020, 4);  // alone
  Object found = 0;
  ASSERT_TRUE(blocks.graph.find(0x70100, found)) << "somebody touches that page";
  EXPECT_EQ(found, Object{ReachGraph::kOutside});
  EXPECT_FALSE(blocks.graph.find(0x90000, found)) << "nobody does";
  blocks.graph.store(Blocks::range(0).begin, 0x70100);
  const auto reached = blocks.call({0});
  blocks.graph.finish();
  EXPECT_EQ(blocks.graph.ranges(reached), (Ranges{Blocks::range(0), {0x70010, 8}, {0x70020, 8}}))
      << "a call of the other thread reaches what main touches";
}

TEST(ReachGraphTest, ManyRangesBecomeAFewThatCoverThem) {
  constexpr std::size_t kCount = 3 * ReachGraph::kMaxRanges;
  Blocks blocks(kCount);
  for (std::size_t i = 1; i < kCount; ++i) {
    blocks.point(i - 1, i);
  }
  const Object far = blocks.graph.add({0x900000, 8});
  blocks.graph.touch(kMain, 0x900000, 8);
  blocks.graph.store(Blocks::range(0).begin, 0x900000);
  const auto reached = blocks.call({0});
  blocks.graph.finish();
  const Ranges& ranges = blocks.graph.ranges(reached);
  EXPECT_LE(ranges.size(), ReachGraph::kMaxRanges);
  const auto covers = [&](const MemoryRange& wanted) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const MemoryRange& r) {
      return r.begin <= wanted.begin && wanted.begin + wanted.length <= r.begin + r.length;
    });
  };
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(covers(Blocks::range(i))) << i;
  }
  EXPECT_TRUE(covers({0x900000, 8}));
  EXPECT_FALSE(covers({0x800000, 8})) << "the widest gaps stay";
  static_cast<void>(far);
}

// A list that grows by a call for each node, half a million of them. Quadratic, it would take hours.
TEST(ReachGraphTest, CostsWhatIsNew) {
  constexpr std::uint64_t kNodes = 500'000;
  ReachGraph graph{FlatMap<bool>()};
  const auto start = std::chrono::steady_clock::now();
  ReachGraph::Reached last = 0;
  for (std::uint64_t i = 1; i <= kNodes; ++i) {
    const Object node = graph.add({0x1000 * i, 32});
    graph.touch(i % 2 == 0 ? kMain : kOtherThread, 0x1000 * i, 8);
    graph.store(0x1000 * i, 0x1000 * (i - 1));
    last = graph.call(kOtherThread, std::vector{node});
  }
  graph.finish();
  EXPECT_LE(graph.ranges(last).size(), ReachGraph::kMaxRanges);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace sooth
