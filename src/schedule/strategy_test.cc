#include "schedule/strategy.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/strategy_model.h"

namespace sooth {
namespace {

TEST(SeededRandom, IsTheKnownSequence) {
  // Reference outputs of SplitMix64 for seed 1234567.
  SeededRandom random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(SeededRandom, IsUniformBelowABound) {
  for (const std::uint64_t seed : {0u, 1u, 2u, 77u}) {
    SeededRandom random(seed);
    std::map<std::string, int> counts;
    for (int i = 0; i < 70'000; ++i) {
      const std::uint64_t number = random.below(7);
      ASSERT_LT(number, 7u);
      ++counts[std::to_string(number)];
    }
    EXPECT_LT(chi_square(counts, 7, 70'000), 22.46) << "seed " << seed;  // 6 degrees of freedom, p = 0.001
  }
}

TEST(SeededRandom, HasNoRemainderBias) {
  // Of 2^64 numbers a third more fall to the lower half of this bound if remainders are taken as they come.
  const std::uint64_t bound = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  SeededRandom random(5);
  int low = 0;
  for (int i = 0; i < 10'000; ++i) {
    low += random.below(bound) < bound / 2 ? 1 : 0;
  }
  EXPECT_NEAR(low, 5'000, 200);
}

TEST(ParseStrategy, TakesWhatIsDocumented) {
  EXPECT_EQ(spec_of("serial").kind, StrategyKind::kSerial);
  EXPECT_EQ(spec_of("random").kind, StrategyKind::kRandom);
  const StrategySpec pct = spec_of("pct:3");
  EXPECT_EQ(pct.kind, StrategyKind::kPct);
  EXPECT_EQ(pct.depth, 3u);
  EXPECT_EQ(pct.steps, 0u);
  EXPECT_EQ(spec_of("pct:32:5000").depth, 32u);
  EXPECT_EQ(spec_of("pct:32:5000").steps, 5000u);
  EXPECT_EQ(spec_of("pos").kind, StrategyKind::kPos);
  EXPECT_EQ(spec_of("surw").kind, StrategyKind::kSurw);
  const StrategySpec surw = spec_of("surw:20,0@0,7@1");
  EXPECT_EQ(surw.counted, 3u);
  EXPECT_EQ(surw.counts[0].events, 20u);
  EXPECT_EQ(surw.counts[1].events, 0u);
  EXPECT_EQ(surw.counts[2].events, 7u);
  EXPECT_EQ(surw.counts[2].parent, 1u);
  EXPECT_EQ(spec_of("rff").kind, StrategyKind::kRff);
  EXPECT_EQ(spec_of("rff").goal_count, 0u);
  const StrategySpec rff = spec_of("rff:1a40>1a58,0!ff");
  ASSERT_EQ(rff.goal_count, 2u);
  EXPECT_EQ(rff.goals[0], (ReadsFromGoal{0x1a40, 0x1a58, true}));
  EXPECT_EQ(rff.goals[1], (ReadsFromGoal{0, 0xff, false}));
  std::string most = "surw:1";
  for (std::uint32_t i = 1; i < kMaxCounted; ++i) {
    most += ",1";
  }
  EXPECT_EQ(spec_of(most.c_str()).counted, kMaxCounted);
  StrategySpec spec;
  EXPECT_FALSE(parse_strategy((most + ",1").c_str(), spec));
}

TEST(ParseStrategy, RefusesTheRestAndLeavesTheSpecAlone) {
  for (const char* text : {"",
                           "os",
                           "pos:",
                           "pos:1",
                           "posh",
                           "surw:",
                           "surw:x",
                           "surw:1,",
                           "surw:1,,2",
                           "surw:1,2@",
                           "surw:1,2@1",
                           "surw:1,2@7",
                           "surw:1@1",
                           "surw:3 ",
                           "surw:-1",
                           "rff:",
                           "rff:1",
                           "rff:1>",
                           "rff:>2",
                           "rff:1>2,",
                           "rff:1?2",
                           "rff:1>2>3",
                           "rff:1A>2",
                           "rff:11112222333344445>2",
                           "rff:1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1,1>1",
                           "serial ",
                           "serially",
                           "Random",
                           "random:1",
                           "pct",
                           "pct:",
                           "pct:0",
                           "pct:33",
                           "pct:-1",
                           "pct:x",
                           "pct:3x",
                           "pct:3:",
                           "pct:3:0",
                           "pct:3:x",
                           "pct:3:5:",
                           "pct:99999999999999999999",
                           "pct:3:99999999999999999999"}) {
    StrategySpec spec{StrategyKind::kPct, 7, 9};
    EXPECT_FALSE(parse_strategy(text, spec)) << text;
    EXPECT_EQ(spec.depth, 7u) << text;
  }
}

TEST(Strategy, EqualSeedsGiveEqualRuns) {
  for (const char* strategy :
       {"serial", "random", "pct:1", "pct:3", "pct:3:40", "pos", "rff", "surw", "surw:5,9,4,7"}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      EXPECT_EQ(StrategyModel(strategy, seed, {5, 9, 4, 7}).run(), StrategyModel(strategy, seed, {5, 9, 4, 7}).run())
          << strategy << ", seed " << seed;
    }
  }
}

TEST(Strategy, DifferentSeedsGiveDifferentRuns) {
  for (const auto& [strategy, least] : {std::pair{"random", 195},
                                        {"pct:1", 20},
                                        {"pct:3:25", 100},
                                        {"pos", 195},
                                        {"rff", 195},
                                        {"surw", 195},
                                        {"surw:5,9,4,7", 195}}) {
    std::set<std::string> runs;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      runs.insert(StrategyModel(strategy, seed, {5, 9, 4, 7}).run());
    }
    EXPECT_GE(runs.size(), static_cast<std::size_t>(least)) << strategy;
  }
}

TEST(Serial, TakesTurnsAndIgnoresOperations) {
  EXPECT_EQ(StrategyModel("serial", 1, {3, 2, 1}).run(), "aaabbc");
  Strategy strategy(spec_of("serial"), 1, 100);
  std::array<StrategyEntry, 3> entries;
  entries[0].next = &entries[1];
  StrategyEntry* running = &entries[2];
  EXPECT_EQ(strategy.choose(&entries[0], running, SchedulingPoint::kOperation), running);
  EXPECT_EQ(strategy.choose(&entries[0], running, SchedulingPoint::kQuantum), &entries[0]);
  EXPECT_EQ(strategy.choose(&entries[0], running, SchedulingPoint::kYield), &entries[0]);
  EXPECT_EQ(strategy.choose<StrategyEntry>(&entries[0], nullptr, SchedulingPoint::kBlocked), &entries[0]);
  EXPECT_EQ(strategy.choose<StrategyEntry>(nullptr, running, SchedulingPoint::kYield), running);
  EXPECT_EQ(strategy.choose<StrategyEntry>(nullptr, nullptr, SchedulingPoint::kBlocked), nullptr);
  EXPECT_EQ(strategy.grant(running->standing), 100u);
}

TEST(Random, IsUniformAtEveryKindOfPoint) {
  constexpr int kDraws = 40'000;
  std::array<StrategyEntry, 4> entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].name = static_cast<char>('a' + i);
    entries[i].next = i + 1 < 3 ? &entries[i + 1] : nullptr;
  }
  struct Case {
    SchedulingPoint point;
    bool runs;  // entries[3] has the turn
    std::size_t kinds;
    double limit;  // of chi-square, p = 0.001
  };
  for (const Case& c :
       {Case{SchedulingPoint::kOperation, true, 4, 16.27}, Case{SchedulingPoint::kQuantum, true, 4, 16.27},
        Case{SchedulingPoint::kYield, true, 3, 13.82}, Case{SchedulingPoint::kBlocked, false, 3, 13.82}}) {
    Strategy strategy(spec_of("random"), 42, 100);
    std::map<std::string, int> counts;
    for (int i = 0; i < kDraws; ++i) {
      ++counts[std::string(1, strategy.choose(&entries[0], c.runs ? &entries[3] : nullptr, c.point)->name)];
    }
    EXPECT_EQ(counts.size(), c.kinds);
    EXPECT_LT(chi_square(counts, c.kinds, kDraws), c.limit);
  }
}

TEST(Random, ReachesEveryScheduleOfASmallProgram) {
  std::set<std::string> runs;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    runs.insert(StrategyModel("random", seed, {3, 2, 2}).run());
  }
  EXPECT_EQ(runs.size(), 210u);  // 7! / (3! 2! 2!)
}

TEST(Random, GrantsQuantaOfAllScales) {
  Strategy strategy(spec_of("random"), 3, 20'000);
  Standing standing;
  std::map<int, int> scales;
  for (int i = 0; i < 15'000; ++i) {
    const std::uint32_t quantum = strategy.grant(standing);
    ASSERT_GE(quantum, 1u);
    ASSERT_LE(quantum, 20'000u);
    ++scales[static_cast<int>(std::log2(quantum))];
  }
  ASSERT_EQ(scales.size(), 15u);
  for (const auto& [scale, count] : scales) {
    EXPECT_NEAR(count, 1'000, 150) << "quanta of about 2^" << scale;
  }
}

// Where the operation of this number of a thread is in a run.
std::size_t position(const std::string& run, char thread, int number) {
  std::size_t at = run.find(thread);
  for (; number > 0; --number) {
    at = run.find(thread, at + 1);
  }
  return at;
}

// Burckhardt et al., theorem 9: each set of depth d of ordering constraints is met with probability 1/(n k^(d-1)) or
// more. Here n is 2, k is 6, and the sets are all chains x_i < y_m < x_j < ... of the model.
class PctGuarantee : public testing::Test {
 protected:
  static constexpr int kOperations = 3;
  static constexpr int kSeeds = 30'000;

  using Runs = std::map<std::string, int>;

  static Runs runs_of(const char* strategy) {
    Runs runs;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      ++runs[StrategyModel(strategy, seed, {kOperations, kOperations}).run()];
    }
    return runs;
  }

  // The runs that make the operations numbers[0] of `first`, numbers[1] of the other thread, numbers[2] of `first`...
  // in this order.
  static int meeting(const Runs& runs, char first, const std::vector<int>& numbers) {
    int met = 0;
    for (const auto& [run, count] : runs) {
      bool in_order = true;
      for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        const char here = i % 2 == 0 ? first : static_cast<char>('a' + 'b' - first);
        const char there = static_cast<char>('a' + 'b' - here);
        in_order = in_order && position(run, here, numbers[i]) < position(run, there, numbers[i + 1]);
      }
      met += in_order ? count : 0;
    }
    return met;
  }

  static void expect_at_least(int met, double probability, const std::string& what) {
    const double mean = probability * kSeeds;
    EXPECT_GE(met, mean - 4 * std::sqrt(mean)) << what;
  }
};

TEST_F(PctGuarantee, Depth1) {
  const Runs runs = runs_of("pct:1:6");
  EXPECT_EQ(runs.size(), 2u);
  expect_at_least(meeting(runs, 'a', {kOperations - 1, 0}), 1.0 / 2, "a before b");
  expect_at_least(meeting(runs, 'b', {kOperations - 1, 0}), 1.0 / 2, "b before a");
}

TEST_F(PctGuarantee, Depth2) {
  const Runs runs = runs_of("pct:2:6");
  for (const char first : {'a', 'b'}) {
    for (int i = 0; i < kOperations; ++i) {
      for (int j = i + 1; j < kOperations; ++j) {
        for (int m = 0; m < kOperations; ++m) {
          expect_at_least(meeting(runs, first, {i, m, j}), 1.0 / (2 * 6),
                          std::string(1, first) + std::to_string(i * 100 + m * 10 + j));
        }
      }
    }
  }
}

TEST_F(PctGuarantee, Depth3) {
  const Runs runs = runs_of("pct:3:6");
  for (const char first : {'a', 'b'}) {
    for (int i = 0; i < kOperations; ++i) {
      for (int j = i + 1; j < kOperations; ++j) {
        for (int m = 0; m < kOperations; ++m) {
          for (int l = m + 1; l < kOperations; ++l) {
            expect_at_least(meeting(runs, first, {i, m, j, l}), 1.0 / (2 * 6 * 6),
                            std::string(1, first) + std::to_string(i * 1000 + m * 100 + j * 10 + l));
          }
        }
      }
    }
  }
}

TEST_F(PctGuarantee, HoldsUpToAFactorWhenTheSeedDrawsTheEstimate) {
  // The shortest estimate that is drawn is 16.
  const Runs runs = runs_of("pct:2");
  for (int m = 0; m < kOperations; ++m) {
    expect_at_least(meeting(runs, 'a', {0, m, 1}), 1.0 / (17 * 2 * 16), "a, then b" + std::to_string(m));
  }
}

TEST(Pct, CountsOperationsAndQuantaWhileThereAreOtherThreads) {
  Strategy strategy(spec_of("pct:1"), 9, 100);
  std::array<StrategyEntry, 2> entries;
  strategy.admit(entries[0].standing);
  strategy.choose<StrategyEntry>(nullptr, &entries[0], SchedulingPoint::kOperation);
  EXPECT_EQ(strategy.steps(), 0u);
  strategy.admit(entries[1].standing);
  strategy.choose(&entries[1], &entries[0], SchedulingPoint::kOperation);
  EXPECT_EQ(strategy.steps(), 1u);
  strategy.choose(&entries[0], &entries[1], SchedulingPoint::kQuantum);
  EXPECT_EQ(strategy.steps(), 2u);
  strategy.choose<StrategyEntry>(nullptr, &entries[0],
                                 SchedulingPoint::kOperation);  // the other one is blocked, but there
  EXPECT_EQ(strategy.steps(), 3u);
  strategy.choose(&entries[1], &entries[0], SchedulingPoint::kYield);
  strategy.choose<StrategyEntry>(&entries[1], nullptr, SchedulingPoint::kBlocked);
  strategy.dismiss();
  strategy.choose<StrategyEntry>(nullptr, &entries[0], SchedulingPoint::kOperation);
  EXPECT_EQ(strategy.steps(), 3u);
}

TEST(Pct, PassesOverWhoYieldsUntilAllHave) {
  Strategy strategy(spec_of("pct:1"), 11, 100);
  std::array<StrategyEntry, 3> entries;
  for (StrategyEntry& entry : entries) {
    strategy.admit(entry.standing);
  }
  // Each thread yields whenever it runs: they take turns.
  std::map<StrategyEntry*, int> turns;
  StrategyEntry* running = &entries[0];
  for (int i = 0; i < 300; ++i) {
    std::vector<StrategyEntry*> others;
    for (StrategyEntry& entry : entries) {
      if (&entry != running) {
        others.push_back(&entry);
      }
    }
    others[0]->next = others[1];
    others[1]->next = nullptr;
    StrategyEntry* next = strategy.choose(others[0], running, SchedulingPoint::kYield);
    ASSERT_NE(next, running);
    ++turns[running = next];
  }
  for (StrategyEntry& entry : entries) {
    EXPECT_EQ(turns[&entry], 100);
  }
}

TEST(Pct, LosesPatienceWithWhoNeverYields) {
  Strategy strategy(spec_of("pct:1"), 11, 100);
  std::array<StrategyEntry, 2> entries;
  strategy.admit(entries[0].standing);
  strategy.admit(entries[1].standing);
  StrategyEntry* running = strategy.choose(&entries[0], &entries[1], SchedulingPoint::kOperation);
  StrategyEntry* waiting = running == &entries[0] ? &entries[1] : &entries[0];
  std::uint64_t accesses = 0;
  while (strategy.choose(waiting, running, SchedulingPoint::kQuantum) == running) {
    accesses += strategy.grant(running->standing);
    ASSERT_LE(accesses, (Strategy::kPatience + 1) * 100);
  }
  EXPECT_GT(accesses, Strategy::kPatience * 100);
}

TEST(Strategy, AThreadCanBePutFirstOrLast) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(StrategyModel("first:1", seed, {2, 3, 2, 1}).run().substr(0, 5), "bbbaa") << seed;
    EXPECT_EQ(StrategyModel("last:0", seed, {2, 3, 2}).run().substr(5), "aa") << seed;
    EXPECT_EQ(StrategyModel("first:7", seed, {2, 3, 2}).run().size(), 7u) << "there is no such thread";
  }
  std::set<std::string> others;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    others.insert(StrategyModel("first:1", seed, {2, 3, 2, 1}).run());
  }
  EXPECT_GT(others.size(), 1u) << "the seed orders the others";
  StrategySpec spec;
  for (const char* wrong : {"first", "first:", "first:x", "first:1:2", "last:-1", "last:00", "first:2000000"}) {
    EXPECT_FALSE(parse_strategy(wrong, spec)) << wrong;
  }
}

}  // namespace
}  // namespace sooth
