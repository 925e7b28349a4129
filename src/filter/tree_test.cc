// The parts of TREE one by one.
#include "filter/tree.h"

#include <gtest/gtest.h>

#include <vector>

#include "filter/location_table.h"
#include "filter/lock_stack.h"
#include "filter/memory_stamps.h"
#include "filter/site_yield.h"
#include "oracle/random.h"
#include "oracle/trace_text.h"
#include "order/lock_set.h"

namespace sooth {
namespace {

// Against the table that interns at every lock event.
TEST(LockStackTest, HoldsWhatLockSetsHolds) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    oracle::Random random(seed);
    LockSets expected;
    LockSetTable table;
    LockStack stack;
    std::vector<Event> open;
    for (int step = 0; step < 200; ++step) {
      Event e;
      const bool acquires = open.empty() || random.percent(50);
      if (acquires) {
        e.op = Op::kAcquire;
        e.object = random.below(4);
        e.flags = random.percent(20) ? kShared : 0;
        open.push_back(e);
        EXPECT_EQ(stack.acquire(e.object, is_shared(e)) != nullptr, expected.acquire(e));
      } else {
        const std::size_t at = random.percent(50)   ? open.size() - 1
                               : random.percent(50) ? 0
                                                    : random.below(open.size());
        e = open[at];
        e.op = Op::kRelease;
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(stack.release(e.object) != nullptr, expected.release(e));
      }
      EXPECT_EQ(stack.empty(), expected.of(ThreadId{}) == kNoLocks);
      if (random.percent(30)) {
        ASSERT_EQ(table.locks(stack.set(table)), expected.table().locks(expected.of(ThreadId{}))) << "seed " << seed;
      }
    }
  }
}

LocationKey key(std::uint64_t address) { return {address, 1, 0, 0, 4 << 2}; }

TEST(LocationTableTest, KeepsTheMostRecentlyUsedOfASet) {
  LocationTable table(LocationSet::kWays);
  for (std::uint64_t address = 0; address < 2; ++address) {
    table.insert(key(address).hash(), key(address), address);
  }
  LocationSet& set = table.set_of(0);
  ASSERT_NE(set.find(key(0), false), nullptr);  // makes it the most recent
  table.insert(key(2).hash(), key(2), 2);
  EXPECT_NE(set.find(key(0), false), nullptr);
  EXPECT_EQ(set.find(key(1), false), nullptr) << "the least recently used one had to go";
  EXPECT_EQ(set.find(key(2), false)->stamp, 2u);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.evictions(), 1u);
}

TEST(LocationTableTest, GrowsUpToItsLimitAndForgetsNothingByThat) {
  constexpr std::uint64_t kMany = 20'000;
  LocationTable table(4 * kMany);
  for (std::uint64_t address = 0; address < kMany; ++address) {
    table.insert(key(address).hash(), key(address), address);
  }
  EXPECT_EQ(table.size() + table.evictions(), kMany);
  EXPECT_LE(table.memory(), 4 * kMany * sizeof(Location));
  LocationTable small(100);
  for (std::uint64_t address = 0; address < kMany; ++address) {
    small.insert(key(address).hash(), key(address), address);
  }
  EXPECT_LE(small.size(), 100u);
  EXPECT_LE(small.memory(), 100 * sizeof(Location));
}

TEST(LineVersionsTest, SumsChangeWithWhateverOverlaps) {
  LineVersions lines;
  EXPECT_EQ(lines.sum(0x1000, 8), 0u);
  lines.change(0x103f, 2);
  const std::uint64_t before = lines.sum(0x1000, 4);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(lines.sum(0x1000, 100), lines.sum(0x1000, 1) + lines.sum(0x1040, 1));
  lines.change(0, std::uint64_t{1} << 40);  // more lines than counters
  EXPECT_EQ(lines.sum(0x1000, 4), before + 1);
}

// How many of the accesses of a trace pass.
std::size_t passing(const TreeOptions& options, std::string_view text) {
  const oracle::TextTrace trace = oracle::parse_trace(text);
  const std::unique_ptr<TreeFilter> filter = make_tree_filter(options);
  Batch batch;
  batch.events = trace.events;
  std::size_t count = 0;
  for (const Event& e : filter->hide(batch).events) {
    count += e.op <= Op::kWrite ? 1 : 0;
  }
  return count;
}

TreeOptions mode(TreeMode mode) {
  TreeOptions options;
  options.mode = mode;
  return options;
}

struct Distinction {
  const char* what;
  const char* trace;    // a hidden access, unless the mode tells the two apart
  std::size_t passing;  // by mode tree, tree:hb, tree:strict
  std::size_t passing_hb;
  std::size_t passing_strict;
};

TEST(ContextTest, TellsApartWhatDocsTreeSays) {
  constexpr Distinction kCases[] = {
      {"nothing between", "T0|w(x)|1 T0|w(x)|1", 1, 1, 1},
      {"another site", "T0|w(x)|1 T0|w(x)|2", 2, 2, 2},
      {"another kind", "T0|r(x)|1 T0|w(x)|1", 2, 2, 2},
      {"another size", "T0|w(0x10:4)|1 T0|w(0x10:8)|1", 2, 2, 2},
      {"overlapping bytes", "T0|w(0x10:4)|1 T0|w(0x12:4)|1", 2, 2, 2},
      {"another thread", "T0|w(x)|1 T1|w(x)|1", 2, 2, 2},
      {"memory allocated again", "T0|w(0x10:4)|1 T0|alloc(0x8:64)|9 T0|w(0x10:4)|1", 2, 2, 2},
      {"freed and not allocated", "T0|w(0x10:4)|1 T0|free(0x8:64)|9 T0|w(0x10:4)|1", 1, 1, 1},
      {"a lock", "T0|w(x)|1 T0|acq(l)|9 T0|w(x)|1", 2, 2, 2},
      {"the same lock again", "T0|acq(l)|9 T0|w(x)|1 T0|rel(l)|9 T0|acq(l)|9 T0|w(x)|1", 1, 1, 2},
      {"the same lock, taken meanwhile",
       "T0|acq(l)|9 T0|w(x)|1 T0|rel(l)|9 T1|acq(l)|9 T1|rel(l)|9 T0|acq(l)|9 T0|w(x)|1", 1, 2, 2},
      {"the same lock as a reader", "T0|acq(l)|9 T0|w(x)|1 T0|rel(l)|9 T0|racq(l)|9 T0|w(x)|1", 2, 2, 2},
      {"a lock between", "T0|w(x)|1 T0|acq(l)|9 T0|rel(l)|9 T0|w(x)|1", 1, 2, 2},
      {"a re-entrant lock", "T0|acq(l)|9 T0|w(x)|1 T0|acq(l)|9 T0|w(x)|1", 1, 1, 2},
      {"a fork", "T0|w(x)|1 T0|fork(T1)|9 T0|w(x)|1", 2, 2, 2},
      {"a join", "T0|w(x)|1 T0|join(T1)|9 T0|w(x)|1", 1, 1, 1},
      {"a notify", "T0|w(x)|1 T0|notify(s)|9 T0|w(x)|1", 2, 2, 2},
      {"a wait", "T0|w(x)|1 T0|wait(s)|9 T0|w(x)|1", 1, 1, 1},
      {"a condition notify", "T0|w(x)|1 T0|notifyone(c)|9 T0|w(x)|1", 2, 2, 2},
      {"a condition wait", "T0|w(x)|1 T0|condwait(c)|9 T0|w(x)|1", 1, 1, 1},
      {"a release store", "T0|w(x)|1 T0|astore.release(y)|9 T0|w(x)|1", 2, 2, 2},
      {"a relaxed store", "T0|w(x)|1 T0|astore.relaxed(y)|9 T0|w(x)|1", 1, 1, 1},
      {"an acquire load", "T0|w(x)|1 T0|aload.acquire(y)|9 T0|w(x)|1", 1, 1, 1},
      {"a release fence", "T0|w(x)|1 T0|fence.release()|9 T0|w(x)|1", 2, 2, 2},
  };
  for (const Distinction& each : kCases) {
    EXPECT_EQ(passing(mode(TreeMode::kTree), each.trace), each.passing) << each.what;
    EXPECT_EQ(passing(mode(TreeMode::kHb), each.trace), each.passing_hb) << each.what;
    EXPECT_EQ(passing(mode(TreeMode::kStrict), each.trace), each.passing_strict) << each.what;
  }
}

TEST(ContextTest, DataModeHidesReadsOfUnchangedMemory) {
  EXPECT_EQ(passing(mode(TreeMode::kData), "T0|r(x)|1 T0|r(x)|1 T0|w(y)|2 T0|w(y)|2"), 3u);
  EXPECT_EQ(passing(mode(TreeMode::kData), "T0|r(x)|1 T0|w(y)|2 T0|r(x)|1"), 3u) << "another thread may have seen y";
  EXPECT_EQ(passing(mode(TreeMode::kData), "T0|r(x)|1 T1|w(y)|2 T0|r(x)|1"), 2u);
  EXPECT_EQ(passing(mode(TreeMode::kData), "T0|r(0x10:4)|1 T1|w(0x12:1)|2 T0|r(0x10:4)|1"), 3u);
  EXPECT_EQ(passing(mode(TreeMode::kData), "T0|r(0x10:4)|1 T1|armw.relaxed(0x10:4)|2 T0|r(0x10:4)|1"), 2u);
  EXPECT_EQ(passing(mode(TreeMode::kData), "T0|r(0x10:4)|1 T1|free(0x10:4)|2 T0|r(0x10:4)|1"), 2u);
}

// Sections in which nothing is left are hidden as a whole, and others are not touched.
TEST(SectionTest, OnlyEmptyOnesAreHidden) {
  const oracle::TextTrace trace = oracle::parse_trace(
      "T0|acq(a)|9 T0|acq(b)|9 T0|w(x)|1 T0|rel(a)|9 T0|rel(b)|9 "
      "T0|acq(a)|9 T0|acq(b)|9 T0|w(x)|1 T0|rel(a)|9 T0|rel(b)|9 "
      "T0|acq(a)|9 T0|w(x)|1 T0|rel(a)|9 T0|acq(a)|9 T0|astore.relaxed(y)|2 T0|rel(a)|9 T0|acq(a)|9");
  TreeOptions options;
  options.hide_sections = true;
  const std::unique_ptr<TreeFilter> filter = make_tree_filter(options);
  Batch batch;
  batch.first = EventId{100};
  batch.events = trace.events;
  const Batch left = filter->hide(batch);
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < left.events.size(); ++i) {
    ids.push_back(raw(left.id(i)) - 100);
  }
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(filter->counts().hidden_locks, 4u);
}

// A filter that finds nothing pauses, and finds what there is to find when the trace changes.
TEST(PauseTest, EndsWhenTheTraceRepeatsItself) {
  TreeOptions options = mode(TreeMode::kStrict);
  options.patience = 100;
  const std::unique_ptr<TreeFilter> filter = make_tree_filter(options);
  std::vector<Event> events(1'000);
  std::uint64_t address = 0x1000;
  const auto feed = [&](int batches, bool repeat) {
    const std::uint64_t before = filter->counts().hidden_intra;
    for (int i = 0; i < batches; ++i) {
      for (Event& e : events) {
        e.op = Op::kWrite;
        e.size = 8;
        e.object = repeat ? 0x10 : address += 8;
      }
      Batch batch;
      batch.events = events;
      filter->hide(batch);
    }
    return filter->counts().hidden_intra - before;
  };
  EXPECT_EQ(feed(200, false), 0u);
  EXPECT_LT(filter->counts().looked_at, 20'000u) << "it did not pause";
  EXPECT_GT(feed(200, true), 100'000u) << "it did not come back";
}

// Looks at `address` at `site` if it is wanted, and says that it was redundant or not.
bool look(SiteYields& yields, SiteId site, std::uint64_t address, bool redundant) {
  const bool wanted = yields.wants(site, address);
  if (wanted) {
    yields.note(site, redundant);
  }
  return wanted;
}

TEST(SiteYieldsTest, LooksAtTheSameFewAddressesOfASiteThatHidesNothing) {
  SiteYields yields(64);
  std::vector<std::uint64_t> sample;
  for (std::uint64_t address = 0; address < 4'096; address += 8) {
    look(yields, SiteId{1}, address, false);
  }
  for (std::uint64_t address = 0; address < 4'096; address += 8) {
    if (look(yields, SiteId{1}, address, false)) {
      sample.push_back(address);
    }
  }
  EXPECT_GT(sample.size(), 16u);
  EXPECT_LT(sample.size(), 64u) << "of 512";
  for (const std::uint64_t address : sample) {
    EXPECT_TRUE(yields.wants(SiteId{1}, address));
  }
  EXPECT_TRUE(yields.wants(SiteId{2}, 8)) << "another site has its own account";
}

TEST(SiteYieldsTest, LooksAtAllOnceTheSampleRepeatsItself) {
  SiteYields yields(64);
  for (int round = 0; round < 8; ++round) {
    for (std::uint64_t address = 0; address < 16'384; address += 8) {
      look(yields, SiteId{1}, address, round > 0);
    }
  }
  std::size_t wanted = 0;
  for (std::uint64_t address = 0; address < 16'384; address += 8) {
    wanted += look(yields, SiteId{1}, address, true) ? 1 : 0;
  }
  EXPECT_EQ(wanted, 2'048u);
}

TEST(SiteYieldsTest, LooksAgainThoughTheSampleHasNoneOfTheAddresses) {
  SiteYields yields(64);
  for (std::uint64_t address = 0; address < 4'096; address += 8) {
    look(yields, SiteId{1}, address, false);
  }
  std::uint64_t outside = 8;
  while (yields.wants(SiteId{1}, outside)) {
    outside += 8;
  }
  std::size_t wanted = 0;
  for (int i = 0; i < 10'000; ++i) {
    wanted += look(yields, SiteId{1}, outside, true) ? 1 : 0;
  }
  EXPECT_GT(wanted, 5'000u);
}

TEST(SiteYieldsTest, LooksAtAllWithoutPatience) {
  SiteYields yields(0);
  for (std::uint64_t address = 0; address < 100'000; ++address) {
    ASSERT_TRUE(look(yields, SiteId{1}, address, false));
  }
}

}  // namespace
}  // namespace sooth
