#include "schedule/directed.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sooth {
namespace {

using control::kAcquires;
using control::kAtomics;
using control::kReads;
using control::kWrites;

struct DirectedEntry {
  DirectedEntry* next = nullptr;
  SiteAccess access;
  std::uint64_t postponed_at = 0;
  std::uint32_t rounds = 0;
};

SiteAccess access_of(std::uint64_t address, std::uint32_t bytes, std::uint32_t kinds, std::uint32_t sites) {
  SiteAccess access;
  access.address = address;
  access.bytes = bytes;
  access.kinds = kinds;
  access.sites = sites;
  return access;
}

TEST(Racing, NeedsACommonByteAWriteAndBothEndsOfThePair) {
  struct Case {
    const char* what;
    SiteAccess a, b;
    bool races;
  };
  const Case cases[] = {
      {"write and read", access_of(100, 4, kWrites, 1), access_of(100, 4, kReads, 2), true},
      {"two writes", access_of(100, 4, kWrites, 1), access_of(100, 4, kWrites, 2), true},
      {"two reads", access_of(100, 4, kReads, 1), access_of(100, 4, kReads, 2), false},
      {"last byte of the first", access_of(100, 4, kWrites, 1), access_of(103, 1, kReads, 2), true},
      {"right behind it", access_of(100, 4, kWrites, 1), access_of(104, 4, kReads, 2), false},
      {"right in front of it", access_of(100, 4, kWrites, 1), access_of(96, 4, kReads, 2), false},
      {"inside a block", access_of(100, 1000, kWrites, 1), access_of(800, 8, kReads, 2), true},
      {"both at the first site", access_of(100, 4, kWrites, 1), access_of(100, 4, kWrites, 1), false},
      {"both at the second site", access_of(100, 4, kWrites, 2), access_of(100, 4, kWrites, 2), false},
      {"a site with itself", access_of(100, 4, kWrites, 3), access_of(100, 4, kWrites, 3), true},
      {"code of both sites and of one", access_of(100, 4, kWrites, 3), access_of(100, 4, kWrites, 1), true},
      {"both atomic", access_of(100, 4, kWrites | kAtomics, 1), access_of(100, 4, kReads | kAtomics, 2), false},
      {"one atomic", access_of(100, 4, kWrites | kAtomics, 1), access_of(100, 4, kReads, 2), true},
      {"two acquires of one lock", access_of(100, 1, kAcquires, 3), access_of(100, 1, kAcquires, 3), false},
      {"an atomic read and a plain one", access_of(100, 4, kReads | kAtomics, 1), access_of(100, 4, kReads, 2), false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(are_racing(c.a, c.b), c.races) << c.what;
    EXPECT_EQ(are_racing(c.b, c.a), c.races) << c.what << ", the other way";
  }
}

TEST(Racing, RangesMeanPlainAccessesAndWithTheBitAtomicOnesToo) {
  EXPECT_TRUE(is_meant(kReads, kReads));
  EXPECT_FALSE(is_meant(kReads, kWrites));
  EXPECT_TRUE(is_meant(kReads | kWrites, kWrites));
  EXPECT_FALSE(is_meant(kReads | kWrites, kReads | kAtomics));
  EXPECT_TRUE(is_meant(kReads | kWrites | kAtomics, kReads | kWrites | kAtomics));
  EXPECT_TRUE(is_meant(kReads | kAtomics, kReads));
  EXPECT_FALSE(is_meant(kReads | kAtomics, kWrites | kAtomics));
  EXPECT_TRUE(is_meant(kAcquires, kAcquires));
  EXPECT_FALSE(is_meant(kAcquires, control::kFirstAcquires)) << "only who holds a lock can be in a deadlock";
  EXPECT_TRUE(is_meant(kAcquires | control::kFirstAcquires, control::kFirstAcquires));
  EXPECT_TRUE(is_meant(kAcquires | control::kFirstAcquires, kAcquires));
  EXPECT_FALSE(is_meant(control::kFirstAcquires, kReads));
}

TEST(AreMeeting, ASectionComesBetweenTwo) {
  using control::kFirstAcquires;
  const SiteAccess second = access_of(100, 1, kFirstAcquires, control::kSecondSection);
  const SiteAccess between = access_of(100, 1, kAcquires, control::kSectionBetween);
  EXPECT_TRUE(are_meeting(second, between));
  EXPECT_TRUE(are_meeting(between, second));
  EXPECT_FALSE(are_meeting(second, second));
  EXPECT_FALSE(are_meeting(second, access_of(108, 1, kAcquires, control::kSectionBetween))) << "another lock";
  EXPECT_FALSE(are_meeting(access_of(100, 1, kAcquires, 3), access_of(100, 1, kAcquires, 3))) << "a deadlock";
  EXPECT_FALSE(are_racing(second, between));
  EXPECT_FALSE(is_meant(kAcquires, kReads)) << "the mutex is read on the way";
  EXPECT_FALSE(is_meant(kReads | kWrites, kAcquires));
}

TEST(Approach, TheFirstOnesPassWhereBothSectionsBegin) {
  const SiteAccess either =
      access_of(100, 1, control::kFirstAcquires, control::kSecondSection | control::kEitherSection);
  std::set<int> passed;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Directed directed(seed, 0);
    int passes = 0;
    while (directed.approach<DirectedEntry>(either, nullptr, false) == Approach::kPass) {
      ++passes;
    }
    passed.insert(passes);
    EXPECT_EQ(directed.approach<DirectedEntry>(either, nullptr, false), Approach::kPostpone);
  }
  EXPECT_EQ(passed, (std::set<int>{1, 2, 3}));
}

TEST(Approach, PostponesUntilSomebodyMeetsIt) {
  Directed directed(1, 0);
  const SiteAccess here = access_of(100, 4, kWrites, 1);
  EXPECT_EQ(directed.approach<DirectedEntry>(here, nullptr, false), Approach::kPostpone);
  EXPECT_EQ(directed.approach<DirectedEntry>(here, nullptr, true), Approach::kPass) << "nobody could ever come";
  DirectedEntry elsewhere{nullptr, access_of(200, 4, kWrites, 2)};
  EXPECT_EQ(directed.approach(here, &elsewhere, true), Approach::kPostpone)
      << "another one is postponed: it may be let go and come round";
}

TEST(Approach, ResolvesARaceEitherWay) {
  DirectedEntry far{nullptr, access_of(200, 4, kWrites, 2)};
  DirectedEntry met{&far, access_of(102, 4, kReads, 2)};
  int first = 0;
  constexpr int kRuns = 1000;
  for (int seed = 0; seed < kRuns; ++seed) {
    Directed directed(static_cast<std::uint64_t>(seed), 0);
    const Approach approach = directed.approach(access_of(100, 4, kWrites, 1), &met, true);
    ASSERT_TRUE(approach == Approach::kGoesFirst || approach == Approach::kGoesSecond);
    first += approach == Approach::kGoesFirst ? 1 : 0;
  }
  // Five standard deviations of a fair coin.
  EXPECT_NEAR(first, kRuns / 2, 80);
}

TEST(Approach, IsAFunctionOfTheSeed) {
  DirectedEntry met{nullptr, access_of(100, 4, kReads, 2)};
  std::string runs[2];
  for (std::string& run : runs) {
    Directed directed(42, 0);
    for (int i = 0; i < 64; ++i) {
      run += directed.approach(access_of(100, 4, kWrites, 1), &met, false) == Approach::kGoesFirst ? 'f' : 's';
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0].find('f'), std::string::npos);
  EXPECT_NE(runs[0].find('s'), std::string::npos);
}

TEST(Release, LetsAnyOfThePostponedGo) {
  DirectedEntry entries[3];
  entries[0].next = &entries[1];
  entries[1].next = &entries[2];
  std::set<DirectedEntry*> released;
  Directed directed(7, 0);
  EXPECT_EQ(directed.release<DirectedEntry>(nullptr), nullptr);
  for (int i = 0; i < 100; ++i) {
    released.insert(directed.release(entries));
  }
  EXPECT_EQ(released, (std::set<DirectedEntry*>{&entries[0], &entries[1], &entries[2]}));
}

TEST(Approach, WaitsLessAndLessOftenAtAHotSite) {
  Directed directed(1, 1600);
  const SiteAccess here = access_of(100, 4, kWrites, 1);
  int waits = 0, late = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    if (directed.approach<DirectedEntry>(here, nullptr, false) == Approach::kPostpone) {
      ++waits;
      late += i >= 500'000;
    }
  }
  EXPECT_GE(waits, 64);
  EXPECT_LT(waits, 1200) << "about 64 * (1 + ln(1,000,000 / 64)) are expected";
  EXPECT_LT(late, 120);
  SiteAccess other = here;
  other.range = 1;
  EXPECT_EQ(directed.approach<DirectedEntry>(other, nullptr, false), Approach::kPostpone)
      << "another site has its own count";
  DirectedEntry entry;
  entry.access = here;
  EXPECT_EQ(directed.impatient(&entry, 10), &entry) << "patience shrinks, too";
  entry.access = other;
  EXPECT_EQ(directed.impatient(&entry, 10), nullptr);
}

TEST(Patience, IsMostlyForFewRoundsOfLoopsAndSeldomForVeryMany) {
  Directed directed(7, 0);
  std::vector<std::uint32_t> drawn;
  for (int i = 0; i < 20'000; ++i) {
    drawn.push_back(directed.draw_rounds());
  }
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn.front(), 16U);
  EXPECT_LE(drawn[drawn.size() / 2], 32U);
  EXPECT_EQ(drawn.back(), 16'384U);
  EXPECT_EQ(Directed(7, 0).draw_rounds(), Directed(7, 0).draw_rounds());

  DirectedEntry later{nullptr, {}, 0, 32};
  DirectedEntry earlier{&later, {}, 0, 64};
  EXPECT_EQ(directed.outwaited<DirectedEntry>(nullptr, 100), nullptr);
  EXPECT_EQ(directed.outwaited(&earlier, 31), nullptr);
  EXPECT_EQ(directed.outwaited(&earlier, 32), &later);
  EXPECT_EQ(directed.outwaited(&earlier, 64), &earlier);
}

TEST(Patience, IsCountedInHookCallsOfOthers) {
  DirectedEntry later{nullptr, {}, 1000};
  DirectedEntry earlier{&later, {}, 950};
  const Directed directed(1, 100);
  EXPECT_EQ(directed.impatient<DirectedEntry>(nullptr, 2000), nullptr);
  EXPECT_EQ(directed.impatient(&earlier, 1050), nullptr);
  EXPECT_EQ(directed.impatient(&earlier, 1051), &earlier);
  EXPECT_EQ(directed.impatient(&later, 1100), nullptr);
  EXPECT_EQ(directed.impatient(&later, 1101), &later);
  EXPECT_EQ(Directed(1, 0).impatient(&later, 1000 + Directed::kDefaultPatience), nullptr);
  EXPECT_EQ(Directed(1, 0).impatient(&later, 1001 + Directed::kDefaultPatience), &later);
}

}  // namespace
}  // namespace sooth
