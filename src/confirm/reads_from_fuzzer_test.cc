#include "confirm/reads_from_fuzzer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "schedule/strategy.h"

namespace sooth {
namespace {

struct ModelThread {
  ModelThread* next = nullptr;
  Standing standing;
};

// What a thread does, one after the other.
struct ModelDeed {
  std::uint64_t place = 0, object = 0;
  bool writes = false;
};
using FuzzedProgram = std::vector<std::vector<ModelDeed>>;

// Runs the program as the run time library would, and tells what came right behind what.
ProcessLog run_model(const FuzzedProgram& program, const std::string& strategy_text, std::uint64_t seed) {
  StrategySpec spec;
  EXPECT_TRUE(parse_strategy(strategy_text.c_str(), spec)) << strategy_text;
  Strategy strategy(spec, seed, 1000);
  std::vector<ModelThread> threads(program.size());
  std::vector<std::size_t> at(program.size());
  for (ModelThread& thread : threads) {
    strategy.admit(thread.standing);
  }
  struct Last {
    std::size_t thread;
    ModelDeed deed;
  };
  std::map<std::uint64_t, Last> last;
  ProcessLog process;
  for (;;) {
    ModelThread* ready = nullptr;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (at[i] < program[i].size()) {
        const ModelDeed& deed = program[i][at[i]];
        threads[i].standing.object = deed.object;
        threads[i].standing.writes = deed.writes;
        threads[i].standing.place = deed.place;
        threads[i].standing.is_event = true;
        threads[i].next = ready;
        ready = &threads[i];
      }
    }
    ModelThread* chosen = strategy.choose(ready, static_cast<ModelThread*>(nullptr), SchedulingPoint::kBlocked);
    if (chosen == nullptr) {
      return process;
    }
    const auto thread = static_cast<std::size_t>(chosen - threads.data());
    const ModelDeed& deed = program[thread][at[thread]++];
    strategy.observe({chosen->standing.number, deed.place, deed.object, deed.writes});
    const auto before = last.find(deed.object);
    if (before != last.end() && (before->second.deed.writes || deed.writes)) {
      const Last& first = before->second;
      (first.thread != thread ? process.orders : process.own_orders)
          .push_back({{first.deed.place, deed.place, (first.deed.writes ? 1u : 0u) | (deed.writes ? 2u : 0u)},
                      static_cast<std::uint32_t>(first.thread),
                      static_cast<std::uint32_t>(thread)});
    }
    if (before == last.end() || deed.writes || !before->second.deed.writes) {
      last[deed.object] = {thread, deed};
    }
  }
}

// One thread writes the same object at many places, the other does much else before it reads it, at a few.
FuzzedProgram many_versions() {
  FuzzedProgram program(2);
  for (std::uint64_t i = 1; i <= 24; ++i) {
    program[0].push_back({0x1000 + i, 8, true});
    program[1].push_back({0x2000 + i, 16 + i, true});
  }
  program[1].push_back({0x3000, 8, false});
  return program;
}

ProcessLog showing(const std::vector<SeenOrder>& orders) {
  ProcessLog process;
  for (const SeenOrder& order : orders) {
    process.orders.push_back({order, 1, 2});
  }
  return process;
}

bool reads_from(const ProcessLog& process, std::uint64_t first, std::uint64_t second) {
  for (const SeenOrder& order : process.orders) {
    if (order.first == first && order.second == second) {
      return true;
    }
  }
  return false;
}

TEST(RffOf, PrintsWhatStrategiesParse) {
  EXPECT_EQ(rff_of({}), "rff");
  const std::vector<ReadsFromGoal> goals = {{0x1a40, 0x1a58, true}, {0, 0xffffffffffffffff, false}};
  EXPECT_EQ(rff_of(goals), "rff:1a40>1a58,0!ffffffffffffffff");
  StrategySpec spec;
  ASSERT_TRUE(parse_strategy(rff_of(goals).c_str(), spec));
  EXPECT_EQ(std::vector<ReadsFromGoal>(spec.goals, spec.goals + spec.goal_count), goals);
}

TEST(ReadsFromFuzzer, GoalsLeadRuns) {
  const FuzzedProgram program = many_versions();
  int by_chance = 0, by_goal = 0, against = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    by_chance += reads_from(run_model(program, "rff", seed), 0x1003, 0x3000) ? 1 : 0;
    by_goal += reads_from(run_model(program, "rff:1003>3000", seed), 0x1003, 0x3000) ? 1 : 0;
    against += reads_from(run_model(program, "rff:1018!3000", seed), 0x1018, 0x3000) ? 1 : 0;
  }
  EXPECT_LT(by_chance, 10);
  EXPECT_EQ(by_goal, 100);
  EXPECT_LT(against, 100);  // at the end of the thread there is nothing else to read from
}

TEST(ReadsFromFuzzer, ShowsAllPairsInFarFewerRunsThanChance) {
  const FuzzedProgram program = many_versions();
  const auto runs_until_all = [&](bool fuzzes, std::uint64_t seed) {
    ReadsFromFuzzer fuzzer(seed);
    std::set<std::uint64_t> shown;
    for (std::uint64_t runs = 0; runs < 20'000; ++runs) {
      const std::string strategy = fuzzes ? fuzzer.next() : "pos";
      const ProcessLog process = run_model(program, strategy, seed * 100'000 + runs);
      fuzzer.take(strategy, process);
      for (const SeenOrder& order : process.orders) {
        if (order.second == 0x3000) {
          shown.insert(order.first);
        }
      }
      if (shown.size() == 24) {
        return runs;
      }
    }
    return std::uint64_t{20'000};
  };
  std::uint64_t fuzzed = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    fuzzed += runs_until_all(true, seed);
    drawn += runs_until_all(false, seed);
  }
  EXPECT_LT(fuzzed * 3, drawn) << fuzzed << " and " << drawn;
}

TEST(ReadsFromFuzzer, IsAFunctionOfItsSeedAndOfWhatItSaw) {
  const auto all = [](std::uint64_t seed) {
    ReadsFromFuzzer fuzzer(seed);
    std::string text;
    for (std::uint64_t runs = 0; runs < 50; ++runs) {
      const std::string strategy = fuzzer.next();
      text += strategy + "\n";
      fuzzer.take(strategy, run_model(many_versions(), strategy, runs));
    }
    return text;
  };
  EXPECT_EQ(all(1), all(1));
  EXPECT_NE(all(1), all(2));
}

TEST(ReadsFromFuzzer, KeepsWhatIsNew) {
  ReadsFromFuzzer fuzzer;
  EXPECT_EQ(fuzzer.next(), "rff");
  EXPECT_TRUE(fuzzer.take("rff", showing({{1, 2, 1}})));
  EXPECT_EQ(fuzzer.kept(), 1u);
  EXPECT_FALSE(fuzzer.take("rff:1>2", showing({{1, 2, 1}})));
  EXPECT_TRUE(fuzzer.take("pos", showing({{1, 2, 1}, {2, 1, 2}})));
  EXPECT_EQ(fuzzer.kept(), 2u);
  StrategySpec spec;
  for (int i = 0; i < 200; ++i) {
    const std::string strategy = fuzzer.next();
    ASSERT_TRUE(parse_strategy(strategy.c_str(), spec)) << strategy;
    EXPECT_LE(spec.goal_count, ReadsFromFuzzer::kMostGoals);
  }
}

TEST(ReadsFromFuzzer, HasNoGoalsWithoutOrders) {
  ReadsFromFuzzer fuzzer;
  EXPECT_TRUE(fuzzer.take("rff", showing({})));
  EXPECT_FALSE(fuzzer.take("rff", showing({})));
  EXPECT_EQ(fuzzer.next(), "rff");
}

}  // namespace
}  // namespace sooth
