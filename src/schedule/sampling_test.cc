// Strategies that promise how likely each order of operations is: surw and pos.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "schedule/strategy_model.h"

namespace sooth {
namespace {

// The value of chi-square with so many degrees of freedom that is exceeded with p = 0.001 (Wilson and Hilferty).
double chi_square_limit(double freedom) {
  const double part = 2 / (9 * freedom);
  return freedom * std::pow(1 - part + 3.0902 * std::sqrt(part), 3);
}

// A program that knows its tree of threads: thread i is created by an operation of its parent.
struct Spawn {
  int thread, at;  // behind so many operations of the parent
};

class TreeModel {
 public:
  TreeModel(const char* strategy, std::uint64_t seed, const std::vector<int>& operations,
            const std::vector<std::vector<Spawn>>& spawns)
      : strategy_(spec_of(strategy), seed, 100),
        entries_(operations.size()),
        made_(operations.size()),
        operations_(operations),
        spawns_(spawns) {}

  std::string run() {
    std::string text;
    begin(0);
    StrategyEntry* running = nullptr;
    for (;;) {
      // The one that has done an operation comes to its next.
      for (std::size_t i = 0; i < ready_.size(); ++i) {
        ready_[i]->next = i + 1 < ready_.size() ? ready_[i + 1] : nullptr;
      }
      StrategyEntry* next =
          strategy_.choose(ready_.empty() ? nullptr : ready_.front(), running,
                           running == nullptr ? SchedulingPoint::kBlocked : SchedulingPoint::kOperation);
      if (next == nullptr) {
        return text;
      }
      if (next != running) {
        std::erase(ready_, next);
        if (running != nullptr) {
          ready_.push_back(running);
        }
      }
      running = next;
      text += running->name;
      const auto i = static_cast<std::size_t>(running->name - 'a');
      ++made_[i];
      for (const Spawn& spawn : spawns_[i]) {
        if (spawn.at == made_[i]) {
          begin(static_cast<std::size_t>(spawn.thread));
        }
      }
      if (made_[i] == operations_[i]) {
        strategy_.dismiss();
        running = nullptr;
      }
    }
  }

 private:
  void begin(std::size_t i) {
    strategy_.admit(entries_[i].standing);
    entries_[i].name = static_cast<char>('a' + i);
    entries_[i].standing.is_event = true;
    ready_.push_back(&entries_[i]);
  }

  Strategy strategy_;
  std::vector<StrategyEntry> entries_;
  std::vector<StrategyEntry*> ready_;
  std::vector<int> made_, operations_;
  std::vector<std::vector<Spawn>> spawns_;
};

constexpr int kSchedules = 100'000;

TEST(Surw, IsUniformOverInterleavings) {
  struct Case {
    const char* strategy;
    std::vector<int> operations;
    std::size_t interleavings;
  };
  for (const Case& c :
       {Case{"surw:3,3", {3, 3}, 20}, Case{"surw:1,5", {1, 5}, 6}, Case{"surw:2,6", {2, 6}, 28},
        Case{"surw:3,2,2", {3, 2, 2}, 210}, Case{"surw:1,1,1,1", {1, 1, 1, 1}, 24}, Case{"surw:8,2", {8, 2}, 45}}) {
    std::map<std::string, int> runs;
    for (int seed = 0; seed < kSchedules; ++seed) {
      ++runs[StrategyModel(c.strategy, static_cast<std::uint64_t>(seed), c.operations).run_once()];
    }
    EXPECT_EQ(runs.size(), c.interleavings) << c.strategy;
    EXPECT_LT(chi_square(runs, c.interleavings, kSchedules), chi_square_limit(static_cast<double>(c.interleavings - 1)))
        << c.strategy;
  }
}

TEST(Surw, IsUniformWhereThreadsCreateThreads) {
  struct Case {
    const char* strategy;
    std::vector<int> operations;
    std::vector<std::vector<Spawn>> spawns;
    std::size_t interleavings;
  };
  // A tree of n operations has n! divided by the sizes of all its subtrees: 6! / (6 2 1 3 2 1), and so on.
  for (const Case& c :
       {Case{"surw:3,3", {3, 3}, {{{1, 1}}, {}}, 10}, Case{"surw:4,2,2", {4, 2, 2}, {{{1, 1}, {2, 2}}, {}, {}}, 126},
        Case{"surw:3,2,3@1", {3, 2, 3}, {{{1, 1}}, {{2, 1}}, {}}, 84}}) {
    std::map<std::string, int> runs;
    for (int seed = 0; seed < kSchedules; ++seed) {
      ++runs[TreeModel(c.strategy, static_cast<std::uint64_t>(seed), c.operations, c.spawns).run()];
    }
    EXPECT_EQ(runs.size(), c.interleavings) << c.strategy;
    EXPECT_LT(chi_square(runs, c.interleavings, kSchedules), chi_square_limit(static_cast<double>(c.interleavings - 1)))
        << c.strategy;
  }
}

TEST(Surw, IsNotUniformWithoutTheNumbers) {
  // What the numbers are good for: `random` leaves a thread with more before it behind.
  for (const char* strategy : {"random", "surw"}) {
    std::map<std::string, int> runs;
    for (int seed = 0; seed < kSchedules; ++seed) {
      ++runs[StrategyModel(strategy, static_cast<std::uint64_t>(seed), {2, 6}).run_once()];
    }
    EXPECT_GT(chi_square(runs, 28, kSchedules), 100 * chi_square_limit(27)) << strategy;
  }
}

TEST(Surw, LetsOthersPassInFrontOfWhatIsOfNoInterestOnly) {
  // 'a' is intended whenever it is drawn; 'b' is in front of nothing of interest and may go on meanwhile.
  Strategy strategy(spec_of("surw:1000,1"), 7, 100);
  std::array<StrategyEntry, 3> entries;
  for (StrategyEntry& entry : entries) {
    strategy.admit(entry.standing);
  }
  entries[1].standing.is_event = true;
  entries[0].next = &entries[1];
  int second = 0, third = 0;
  for (int i = 0; i < 1000; ++i) {
    // entries[0] never comes to an event: whoever is in front of one waits as long as it is intended.
    StrategyEntry* next = strategy.choose(&entries[0], &entries[2], SchedulingPoint::kQuantum);
    second += next == &entries[1] ? 1 : 0;
    third += next == &entries[2] ? 1 : 0;
  }
  EXPECT_LE(second, 2);
  EXPECT_GT(third, 300);
}

TEST(Surw, IsFair) {
  // Whoever is intended spins; what it waits for is an event of the other.
  for (const SchedulingPoint point : {SchedulingPoint::kYield, SchedulingPoint::kQuantum}) {
    Strategy strategy(spec_of("surw:1000000,1"), 7, 100);
    std::array<StrategyEntry, 2> entries;
    strategy.admit(entries[0].standing);
    strategy.admit(entries[1].standing);
    entries[1].standing.is_event = true;
    std::uint64_t accesses = 0;
    while (strategy.choose(&entries[1], &entries[0], point) == &entries[0]) {
      accesses += strategy.grant(entries[0].standing);
      ASSERT_LE(accesses, (Strategy::kPatience + 1) * 100);
    }
  }
}

TEST(Pos, GivesOrdersOfConflictingOperationsMoreEvenlyThanRandom) {
  // One operation of 'a' conflicts with the last of ten of 'b', which are about something else before: `random` has
  // 'a' go second in one of 2^10 runs only.
  const auto last = [](const char* strategy) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      count += StrategyModel(strategy, seed, {1, 10}).at('b', 2).run_once().back() == 'a' ? 1 : 0;
    }
    return count;
  };
  EXPECT_LT(last("random"), 20);
  EXPECT_GT(last("pos"), 100);  // one priority of eleven is the lowest with probability 1/11
}

TEST(Pos, DrawsAnewWhatIsInARaceWithWhatHappened) {
  // Two threads at the same object: without new priorities, a thread with a low one would wait for all of the other's.
  std::map<std::string, int> same, other;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    ++same[StrategyModel("pos", seed, {1, 4}).run_once()];
    ++other[StrategyModel("pos", seed, {1, 4}).at('b', 2).run_once()];
  }
  EXPECT_NEAR(same["bbbba"], 20'000 / 16, 150);  // a coin at each of the four
  EXPECT_NEAR(other["bbbba"], 20'000 / 5, 250);  // the lowest of five
}

TEST(Pos, IsFair) {
  Strategy strategy(spec_of("pos"), 11, 100);
  std::array<StrategyEntry, 2> entries;
  strategy.admit(entries[0].standing);
  strategy.admit(entries[1].standing);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(strategy.choose(&entries[1], &entries[0], SchedulingPoint::kYield), &entries[1]);
  }
}

}  // namespace
}  // namespace sooth
