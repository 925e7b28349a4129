// A program whose threads only make operations, to ask strategies who makes the next; for the tests of strategies.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/strategy.h"

namespace sooth {

struct StrategyEntry {
  StrategyEntry* next = nullptr;
  Standing standing;
  char name = '?';
};

inline StrategySpec spec_of(const char* text) {
  StrategySpec spec;
  EXPECT_TRUE(parse_strategy(text, spec)) << text;
  return spec;
}

// A program of threads 'a', 'b', ... that make so many operations each and never block. Its run is the string of who
// made them.
class StrategyModel {
 public:
  StrategyModel(const char* strategy, std::uint64_t seed, const std::vector<int>& operations)
      : strategy_(spec_of(strategy), seed, 100), entries_(operations.size()), left_(operations) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].name = static_cast<char>('a' + i);
      strategy_.admit(entries_[i].standing);
      entries_[i].standing.is_event = true;
      entries_[i].standing.writes = true;
      entries_[i].standing.object = 1;
    }
  }

  // Operations of the thread are at another object than those of the others.
  StrategyModel& at(char thread, std::uint64_t object) {
    entries_[static_cast<std::size_t>(thread - 'a')].standing.object = object;
    return *this;
  }

  // As run(), but nobody is held up in front of the same operation twice: strategies that know what is pending.
  std::string run_once() {
    std::string made;
    std::vector<StrategyEntry*> ready;
    for (StrategyEntry& entry : entries_) {
      ready.push_back(&entry);
    }
    StrategyEntry* running = decide(ready, nullptr, SchedulingPoint::kBlocked);
    while (running != nullptr) {
      made += running->name;
      const bool ended = --left_[static_cast<std::size_t>(running->name - 'a')] == 0;
      if (ended) {
        strategy_.dismiss();
      }
      running =
          decide(ready, ended ? nullptr : running, ended ? SchedulingPoint::kBlocked : SchedulingPoint::kOperation);
    }
    return made;
  }

  std::string run() {
    std::string made;
    std::vector<StrategyEntry*> ready;
    for (StrategyEntry& entry : entries_) {
      ready.push_back(&entry);
    }
    StrategyEntry* running = decide(ready, nullptr, SchedulingPoint::kBlocked);
    std::set<StrategyEntry*> asked;  // they were held up in front of their operation
    while (running != nullptr) {
      if (asked.insert(running).second) {
        StrategyEntry* next = decide(ready, running, SchedulingPoint::kOperation);
        if (next != running) {
          running = next;
          continue;
        }
      }
      asked.erase(running);
      made += running->name;
      if (--left_[static_cast<std::size_t>(running->name - 'a')] == 0) {
        strategy_.dismiss();
        running = decide(ready, nullptr, SchedulingPoint::kBlocked);
      }
    }
    return made;
  }

 private:
  // Who runs next leaves `ready`; whoever ran before joins it.
  StrategyEntry* decide(std::vector<StrategyEntry*>& ready, StrategyEntry* running, SchedulingPoint point) {
    for (std::size_t i = 0; i < ready.size(); ++i) {
      ready[i]->next = i + 1 < ready.size() ? ready[i + 1] : nullptr;
    }
    StrategyEntry* next = strategy_.choose(ready.empty() ? nullptr : ready.front(), running, point);
    if (next != running) {
      std::erase(ready, next);
      if (running != nullptr) {
        ready.push_back(running);
      }
    }
    return next;
  }

  Strategy strategy_;
  std::vector<StrategyEntry> entries_;
  std::vector<int> left_;
};

// Pearson's statistic of counts that should be equal.
inline double chi_square(const std::map<std::string, int>& counts, std::size_t kinds, int total) {
  const double expected = static_cast<double>(total) / static_cast<double>(kinds);
  double sum = expected * static_cast<double>(kinds - counts.size());
  for (const auto& [kind, count] : counts) {
    sum += (count - expected) * (count - expected) / expected;
  }
  return sum;
}

}  // namespace sooth
