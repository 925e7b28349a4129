// Figure 1 of the IPA paper rule by rule, and the search against the exhaustive walk on random histories. SOOTH_CASES
// sets the number of traces, SOOTH_SEED the first seed.
#include "detect/ipa_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>

#include "base/test_environment.h"
#include "oracle/lock_reachability.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

void feed(LockHistories& histories, std::span<const Event> trace, Index from = 0) {
  for (Index i = from; i < trace.size(); ++i) {
    if (is_access(trace[i].op)) {
      histories.begin_access(trace[i], EventId{i});
      histories.end_access(trace[i]);
    } else {
      histories.step(trace[i], EventId{i}, kNoStack);
    }
  }
}

// The figure numbers steps from 1 and leaves out notify, wait and the accesses.
constexpr const char* kFigure1 =
    "T1|acq(l3)|a1 T1|acq(l2)|a2 T2|acq(l1)|b1 T1|notify(s)|n T1|rel(l3)|a3 T2|acq(l3)|b2 T2|rel(l3)|b3 T2|wait(s)|w "
    "T2|rel(l1)|b4 T1|acq(l1)|a4 T1|rel(l2)|a5 T2|acq(l3)|b5 T2|acq(l2)|b6 T2|acq(l0)|b7 T2|rel(l3)|b8 T2|rel(l0)|b9 "
    "T2|r(x)|rb T2|rel(l2)|b10 T1|acq(l2)|a6 T1|rel(l1)|a7 T1|acq(l0)|a8 T1|rel(l2)|a9 T1|w(x)|wa T1|acq(l3)|a10 "
    "T1|w(x)|wa2 T2|w(x)|wb";

// "a4b5 RC3": the rules applied, numbered as in the figure.
std::string path(std::span<const IpaSearch::Visit> visits) {
  std::string text;
  for (const IpaSearch::Visit& visit : visits) {
    text += (text.empty() ? "" : ", ") + ("a" + std::to_string(visit.a + 1)) + "b" + std::to_string(visit.b + 1) + " " +
            std::string(rule_name(visit.rule));
  }
  return text;
}

class Figure1 : public testing::Test {
 protected:
  Figure1() { feed(histories_, parse_trace(kFigure1).events); }

  // From (a3, b4), behind the last notify and wait.
  IpaSearch search() const { return IpaSearch(histories_, {ThreadId{0}, ThreadId{1}, 2, 3}); }
  static bool reach(IpaSearch& search, int a, int b) {
    return search.reach(static_cast<LockPosition>(a - 1), static_cast<LockPosition>(b - 1));
  }

  LockHistories histories_;
};

TEST_F(Figure1, FollowsTheRulesOfTableII) {
  IpaSearch search = this->search();
  std::vector<IpaSearch::Visit> visits;
  search.log_to(&visits);
  EXPECT_FALSE(reach(search, 10, 10));
  EXPECT_EQ(
      path(visits),
      "a3b4 RC3, a4b5 RC4, a5b5 RC2, a6b5 RC5, a6b6 RC7, a7b6 LCC4, a8b6 LCC4, a9b6 LCC4, a10b6 LCC3, a10b7 LCC2");
  EXPECT_EQ(search.counts().calls, 9u);
  EXPECT_EQ(search.counts().potential, 97u);
}

TEST_F(Figure1, DecidesFourTargetsIn21StepsInsteadOf446) {
  IpaSearch search = this->search();
  std::vector<std::uint64_t> steps;
  const auto next = [&](int a, int b) {
    const std::uint64_t before = search.counts().calls;
    const bool reached = reach(search, a, b);
    steps.push_back(search.counts().calls - before);
    return reached;
  };
  EXPECT_FALSE(next(10, 10));
  EXPECT_TRUE(next(10, 11));
  EXPECT_FALSE(next(11, 10));
  EXPECT_TRUE(next(11, 11));
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{9, 9, 2, 1}));
  EXPECT_EQ(search.counts().calls, 21u);
  EXPECT_EQ(search.counts().potential, 446u);
  // Both threads wait: for l3, that tb holds, and for l0, that ta holds.
  ASSERT_EQ(search.deadlocks().size(), 1u);
  EXPECT_EQ(search.deadlocks()[0], (std::pair<LockPosition, LockPosition>{9, 6}));
}

TEST_F(Figure1, SaysTheSameFromTheBeginning) {
  IpaSearch search(histories_, {ThreadId{0}, ThreadId{1}, 0, 0});
  EXPECT_FALSE(reach(search, 10, 10));
  EXPECT_TRUE(reach(search, 10, 11));
  EXPECT_FALSE(reach(search, 11, 10));
  EXPECT_TRUE(reach(search, 11, 11));
}

// How the targets of a trace come.
enum class Targets : std::uint8_t { kGrowing, kRandom, kStreaming };

struct Pair {
  Index first;   // of thread ta
  Index second;  // of thread tb
};

// Every pair of events of the two threads that must-order leaves unordered.
std::vector<Pair> open_pairs(std::span<const Event> trace, ThreadId ta, ThreadId tb) {
  const Relation must = must_order(trace);
  std::vector<Pair> pairs;
  for (Index later = 0; later < trace.size(); ++later) {
    for (Index earlier = 0; earlier < later; ++earlier) {
      if (must.either(earlier, later)) {
        continue;
      }
      if (trace[earlier].thread == ta && trace[later].thread == tb) {
        pairs.push_back({earlier, later});
      } else if (trace[earlier].thread == tb && trace[later].thread == ta) {
        pairs.push_back({later, earlier});
      }
    }
  }
  return pairs;
}

// Follows the moves from the start of the histories of T0 and T1, step by step.
bool leads_to(const LockHistories& histories, const std::vector<bool>& moves, LockPosition a, LockPosition b) {
  LockPosition at[2] = {0, 0};
  for (const bool by_a : moves) {
    const ThreadId mine{by_a ? 0u : 1u};
    const ThreadId other{by_a ? 1u : 0u};
    const LockPosition mine_at = at[raw(mine)]++;
    const LockStep& step = histories.at(mine, mine_at);
    for (const LockMode& lock : histories.lock_sets().locks(histories.held(other, at[raw(other)]))) {
      if (step.acquire && lock.lock == step.lock && !(lock.shared && step.shared)) {
        return false;
      }
    }
    if (at[raw(other)] < histories.end(other) && histories.precedes(other, at[raw(other)], mine, mine_at)) {
      return false;
    }
  }
  return at[0] == a && at[1] == b;
}

// What is wrong with the answers of one search to all pairs; empty: nothing.
std::string first_mistake(std::span<const Event> trace, Targets order, std::uint64_t seed) {
  const LockReachability truth = lock_reachability(trace);
  const ThreadId ta{0};
  const ThreadId tb{1};
  std::vector<Pair> pairs = open_pairs(trace, ta, tb);
  Random random(seed);
  if (order == Targets::kRandom) {
    for (std::size_t i = pairs.size(); i > 1; --i) {
      std::swap(pairs[i - 1], pairs[random.below(i)]);
    }
  }
  LockHistories histories;
  Index fed = 0;
  if (order != Targets::kStreaming) {
    feed(histories, trace);
  }
  IpaSearch search(histories, {ta, tb, 0, 0});
  IpaSearch leaping(histories, {ta, tb, 0, 0}, IpaSearch::Moves::kLeaps);
  for (const Pair& pair : pairs) {
    if (order == Targets::kStreaming) {  // nothing of what comes after the pair is known
      const Index now = std::max(pair.first, pair.second);
      feed(histories, trace.first(now), fed);
      fed = std::max(fed, now);
    }
    const LockPosition a = histories.position_at(ta, EventId{pair.first});
    const LockPosition b = histories.position_at(tb, EventId{pair.second});
    const bool expected = truth.meetings.contains(std::minmax(pair.first, pair.second));
    IpaSearch fresh(histories, {ta, tb, 0, 0});
    const bool again = fresh.reach(a, b);
    const bool reached = search.reach(a, b);
    const bool leapt = leaping.reach(a, b);
    if (reached != expected || again != expected || leapt != expected) {
      std::ostringstream text;
      text << "events " << pair.first << " and " << pair.second << " can" << (expected ? "" : "not")
           << " meet; search: " << reached << ", without reuse: " << again << ", with leaps: " << leapt;
      return text.str();
    }
    if (reached &&
        !(leads_to(histories, search.moves_to(a, b), a, b) && leads_to(histories, leaping.moves_to(a, b), a, b))) {
      return "a way that does not lead to events " + std::to_string(pair.first) + " and " + std::to_string(pair.second);
    }
  }
  for (const IpaSearch* each : {&search, &leaping}) {
    for (const auto& [a, b] : each->deadlocks()) {
      const Index x = raw(histories.at(ta, a).id);
      const Index y = raw(histories.at(tb, b).id);
      if (!truth.deadlocks.contains(std::minmax(x, y))) {
        return "a deadlock that cannot happen, of events " + std::to_string(x) + " and " + std::to_string(y);
      }
    }
  }
  return {};
}

RandomTrace two_threads(std::uint64_t seed) {
  static constexpr Profile kOf[] = {Profile::kLocks, Profile::kNestedLocks, Profile::kEverything, Profile::kMustOrder};
  RandomTraceOptions options = random_options(kOf[seed % std::size(kOf)], seed);
  options.threads = 2;
  options.locks = 1 + static_cast<std::uint32_t>(seed / 4 % 4);
  options.events = std::min(options.events + 10, 44u);
  options.weights[static_cast<std::size_t>(Action::kAcquire)] *= 2;
  options.weights[static_cast<std::size_t>(Action::kRelease)] *= 2;
  return random_trace(options, seed);
}

class TwoThreads : public testing::TestWithParam<Targets> {};

TEST_P(TwoThreads, FindsExactlyWhatTheExhaustiveWalkFinds) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t pairs = 0;
  std::uint64_t meetings = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomTrace trace = two_threads(seed);
    const auto wrong = [&](std::span<const Event> t) { return !first_mistake(t, GetParam(), seed).empty(); };
    if (wrong(trace.events)) {
      const std::vector<Event> small = minimise(trace.events, wrong);
      FAIL() << "SOOTH_SEED=" << seed << " SOOTH_CASES=1: " << first_mistake(small, GetParam(), seed) << "\n"
             << print_trace(small);
    }
    pairs += open_pairs(trace.events, ThreadId{0}, ThreadId{1}).size();
    meetings += lock_reachability(trace.events).meetings.size();
  }
  std::cout << cases << " histories, " << pairs << " targets, " << meetings << " reachable\n";
  EXPECT_GT(meetings, 0u);
  EXPECT_GT(pairs, meetings);  // both answers occur
}

INSTANTIATE_TEST_SUITE_P(Orders, TwoThreads, testing::Values(Targets::kGrowing, Targets::kRandom, Targets::kStreaming),
                         [](const auto& test) {
                           return test.param == Targets::kGrowing  ? std::string("Growing")
                                  : test.param == Targets::kRandom ? std::string("Random")
                                                                   : std::string("Streaming");
                         });

}  // namespace
}  // namespace sooth::oracle
