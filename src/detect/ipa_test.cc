// IPA on whole traces against the exhaustive walk through the lockset graph. SOOTH_CASES sets the number of traces,
// SOOTH_SEED the first seed.
#include "detect/ipa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>

#include "base/test_environment.h"
#include "detect/hybrid.h"
#include "detect/ipa_shapes.h"
#include "oracle/lock_reachability.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

using Sites = std::set<std::pair<SiteId, SiteId>>;

Sites sites_of(std::span<const SitePair> pairs) {
  Sites sites;
  for (const SitePair& pair : pairs) {
    sites.emplace(pair.low_site, pair.high_site);
  }
  return sites;
}

bool contains(const Sites& more, const Sites& less) {
  return std::includes(more.begin(), more.end(), less.begin(), less.end());
}

std::unique_ptr<Detector> run(std::span<const Event> trace, IpaStrategy strategy, const IpaLimits& limits) {
  std::unique_ptr<Detector> detector = make_ipa_detector(strategy, limits);
  for (std::size_t done = 0; done < trace.size(); done += 5) {
    Batch batch;
    batch.first = EventId{done};
    batch.events = trace.subspan(done, std::min<std::size_t>(5, trace.size() - done));
    detector->consume(batch);
  }
  detector->finish();
  return detector;
}

Sites find(std::span<const Event> trace, IpaStrategy strategy, const IpaLimits& limits) {
  return sites_of(run(trace, strategy, limits)->races().pairs());
}

Sites truth(std::span<const Event> trace) { return sites_of(site_pairs(trace, meeting_conflicts(trace))); }

// Enough for every section of a small trace.
IpaLimits roomy() {
  IpaLimits limits;
  limits.shapes = 64;
  return limits;
}
IpaLimits without_the_run() {
  IpaLimits limits = roomy();
  limits.ask_the_run = false;
  return limits;
}
// Every search begins anew.
IpaLimits without_reuse() {
  IpaLimits limits = without_the_run();
  limits.search_states = 0;
  return limits;
}
IpaLimits forgetful() {
  IpaLimits limits = without_the_run();
  limits.steps = 9;
  limits.walk = 6;
  limits.states = 20;
  limits.searches = 1;
  return limits;
}

// Tells no two sections with the same locks apart.
IpaLimits shapeless() {
  IpaLimits limits;
  limits.shapes = 0;
  return limits;
}

RandomTrace small_trace(std::uint64_t seed, std::uint32_t threads) {
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.threads = threads;
  options.events = std::min(options.events, threads == 2 ? 40u : 26u);
  options.locks = 1 + static_cast<std::uint32_t>(seed / 7 % 3);
  if (seed % 3 != 0) {  // locks everywhere
    options.weights[static_cast<std::size_t>(Action::kAcquire)] *= 3;
    options.weights[static_cast<std::size_t>(Action::kRelease)] *= 3;
  }
  RandomTrace trace = random_trace(options, seed);
  if (seed % 4 != 0) {  // sites of their own, so that every pair of accesses is compared
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      trace.events[i].site = SiteId(i);
    }
  }
  return trace;
}

// Two sites for each thread, as in loops, so that most accesses replace another one in the log; and no access without a
// lock, for that one could meet nearly everything.
RandomTrace trace_of_loops(std::uint64_t seed, std::uint32_t threads) {
  RandomTraceOptions options = random_options(seed % 2 == 0 ? Profile::kNestedLocks : Profile::kLocks, seed);
  options.threads = threads;
  options.locks = 2 + static_cast<std::uint32_t>(seed / 2 % 2);
  options.variables = 1;
  options.events = threads == 2 ? 44 : 30;
  options.forked_percent = 0;
  options.weights[static_cast<std::size_t>(Action::kAcquire)] = 40;
  options.weights[static_cast<std::size_t>(Action::kRelease)] = 30;
  options.weights[static_cast<std::size_t>(Action::kNotify)] = seed % 3 == 0 ? 5 : 0;
  options.weights[static_cast<std::size_t>(Action::kWait)] = seed % 3 == 0 ? 5 : 0;
  RandomTrace trace = random_trace(options, seed);
  LockSets locks;
  std::erase_if(trace.events, [&](Event& e) {
    if (e.op == Op::kAcquire || e.op == Op::kRelease) {
      e.op == Op::kAcquire ? locks.acquire(e) : locks.release(e);
    }
    e.site = SiteId(raw(e.thread) * 2 + (is_write(e.op) ? 1 : 0));
    return is_access(e.op) && locks.of(e.thread) == kNoLocks;
  });
  return trace;
}

// Runs `mistake` on random traces; it says what is wrong with one. `threads`: 0 for three or four.
void check_all(std::uint32_t threads, std::uint64_t cases,
               const std::function<std::string(std::span<const Event>)>& mistake,
               RandomTrace (*make_trace)(std::uint64_t, std::uint32_t) = small_trace) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t with_pairs = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomTrace trace = make_trace(seed, threads == 0 ? 3 + static_cast<std::uint32_t>(seed % 2) : threads);
    const auto wrong = [&](std::span<const Event> t) { return !mistake(t).empty(); };
    if (wrong(trace.events)) {
      const std::vector<Event> small = minimise(trace.events, wrong);
      FAIL() << "SOOTH_SEED=" << seed << " SOOTH_CASES=1: " << mistake(small) << "\n" << print_trace(small);
    }
    with_pairs += truth(trace.events).empty() ? 0 : 1;
  }
  std::cout << cases << " traces, " << with_pairs << " with a pair that can meet\n";
  if (cases >= 1'000) {
    EXPECT_GE(with_pairs * 10, cases);
    EXPECT_LE(with_pairs * 100, cases * 99);
  }
}

std::uint64_t cases() { return from_environment("SOOTH_CASES", 10'000); }

// What strategy I reports is an upper bound, and exact unless a note says that it is not.
std::string judge_upper(std::span<const Event> trace, const IpaLimits& limits, const Sites& exact) {
  const std::unique_ptr<Detector> detector = run(trace, IpaStrategy::kUpper, limits);
  const Sites found = sites_of(detector->races().pairs());
  if (!contains(found, exact)) {
    return "strategy I misses a pair";
  }
  return found == exact || !detector->notes().empty() ? "" : "strategy I invents a pair, and does not say so";
}

// ... and what strategy II reports a lower one, for two threads.
std::string judge_two_threads(std::span<const Event> trace, const IpaLimits& limits, const Sites& expected) {
  if (std::string wrong = judge_upper(trace, limits, expected); !wrong.empty()) {
    return wrong;
  }
  if (find(trace, IpaStrategy::kBoth, limits) != find(trace, IpaStrategy::kUpper, limits)) {
    return "strategy I finds another set when both are asked";
  }
  return contains(expected, find(trace, IpaStrategy::kLower, limits)) ? "" : "strategy II invents a pair";
}

bool all_sites_differ(std::span<const Event> trace) {
  std::set<SiteId> sites;
  return std::all_of(trace.begin(), trace.end(), [&](const Event& e) { return sites.insert(e.site).second; });
}

TEST(IpaOfTwoThreads, FindsExactlyWhatTheExhaustiveWalkFinds) {
  check_all(2, cases(), [](std::span<const Event> trace) -> std::string {
    const Sites expected = truth(trace);
    for (const IpaLimits& limits : {roomy(), without_the_run(), without_reuse()}) {
      if (std::string wrong = judge_two_threads(trace, limits, expected); !wrong.empty()) {
        return wrong;
      }
      // Nothing is replaced in the log when every access has a site of its own.
      if (all_sites_differ(trace) && (find(trace, IpaStrategy::kUpper, limits) != expected ||
                                      find(trace, IpaStrategy::kLower, limits) != expected)) {
        return "a bound is not exact";
      }
    }
    return "";
  });
}

// The log has the latest of like accesses only, and that one does not always speak for the others.
TEST(IpaOfTwoThreads, MissesNothingWhenAccessesReplaceEachOther) {
  std::uint64_t possible = 0;
  std::uint64_t refuted = 0;
  std::uint64_t not_ruled_out = 0;
  const auto mistake = [&](std::span<const Event> trace) -> std::string {
    const Sites expected = truth(trace);
    for (const IpaLimits& limits : {IpaLimits(), shapeless()}) {
      if (std::string wrong = judge_two_threads(trace, limits, expected); !wrong.empty()) {
        return wrong;
      }
    }
    const std::unique_ptr<Detector> ipa = make_ipa_detector(IpaStrategy::kUpper, IpaLimits());
    const std::unique_ptr<Detector> hybrid = ipa->included();
    Batch batch;
    batch.events = trace;
    ipa->consume(batch);
    possible += hybrid->races().pairs().size();
    refuted += hybrid->races().pairs().size() - ipa->races().pairs().size();
    not_ruled_out += ipa->races().pairs().size() - expected.size();
    return "";
  };
  check_all(2, cases() / 2, mistake, trace_of_loops);
  std::cout << possible << " pairs, " << refuted << " refuted, " << not_ruled_out << " not ruled out any more\n";
  EXPECT_GT(refuted, not_ruled_out);
}

TEST(IpaOfSeveralThreads, BoundsWhatTheExhaustiveWalkFinds) {
  std::uint64_t exact = 0;
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  check_all(0, cases(), [&](std::span<const Event> trace) -> std::string {
    const LockReachability all = lock_reachability(trace);
    if (!all.complete) {
      return "";
    }
    const Sites expected = truth(trace);
    const Sites of_two = sites_of(site_pairs(trace, pairwise_meeting_conflicts(trace)));
    for (const IpaLimits& limits : {roomy(), without_the_run(), IpaLimits()}) {
      const Sites most = find(trace, IpaStrategy::kUpper, limits);
      const Sites least = find(trace, IpaStrategy::kLower, limits);
      if (!contains(most, expected)) {
        return "strategy I misses a pair";
      }
      if (std::string wrong = judge_upper(trace, limits, of_two); !wrong.empty()) {
        return wrong + " of two threads";
      }
      if (!contains(expected, least)) {
        return "strategy II invents a pair";
      }
      if (find(trace, IpaStrategy::kBoth, limits) != most) {
        return "strategy I finds another set when both are asked";
      }
      exact += expected.size();
      upper += most.size();
      lower += least.size();
    }
    return find(trace, IpaStrategy::kUpper, without_reuse()) == find(trace, IpaStrategy::kUpper, roomy())
               ? ""
               : "reuse makes a difference";
  });
  std::cout << "lower bound " << lower << ", exhaustive " << exact << ", upper bound " << upper << "\n";
  EXPECT_LT(lower, upper);
}

TEST(IpaOfSeveralThreads, MissesNothingWhenAccessesReplaceEachOther) {
  const auto mistake = [](std::span<const Event> trace) -> std::string {
    const Sites of_two = sites_of(site_pairs(trace, pairwise_meeting_conflicts(trace)));
    std::string wrong = judge_upper(trace, IpaLimits(), of_two);
    return wrong.empty() ? judge_upper(trace, shapeless(), of_two) : wrong;
  };
  check_all(0, cases() / 2, mistake, trace_of_loops);
}

// Everything that a report tells of the pairs.
std::string describe(const PairTable& races) {
  std::vector<std::string> lines;
  for (const SitePair& pair : races.pairs()) {
    std::ostringstream line;
    line << raw(pair.low_site) << " " << raw(pair.high_site) << ": " << raw(pair.example.first) << " and "
         << raw(pair.example.second) << ", " << pair.second_accesses << " times, " << pair.distance << " apart, locks "
         << raw(pair.first.locks) << " and " << raw(pair.second.locks) << "\n";
    lines.push_back(line.str());
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  return text;
}

TEST(IpaIncludes, WhatHybridReports) {
  const auto mistake = [](std::span<const Event> trace) -> std::string {
    const std::unique_ptr<Detector> ipa = make_ipa_detector(IpaStrategy::kUpper, IpaLimits());
    const std::unique_ptr<Detector> included = ipa->included();
    const std::unique_ptr<Detector> hybrid = make_hybrid_detector();
    Batch batch;
    batch.events = trace;
    ipa->consume(batch);
    hybrid->consume(batch);
    const std::string expected = describe(hybrid->races());
    const std::string found = describe(included->races());
    return found == expected ? "" : "hybrid finds\n" + expected + "and ipa\n" + found;
  };
  check_all(0, cases() / 5, mistake);
  check_all(0, cases() / 5, mistake, trace_of_loops);
}

TEST(LockShapes, AreTheStepsSinceNoLockWasHeld) {
  LockSetTable sets;
  LockShapes shapes(2);
  const ThreadId t{3};
  LockSetId held = kNoLocks;
  const auto acquire = [&](std::uint64_t lock) {
    held = sets.with(held, {lock, false});
    shapes.step(t, lock, true, false, held);
    return shapes.of(t);
  };
  const auto release = [&](std::uint64_t lock) {
    held = sets.without(held, lock);
    shapes.step(t, lock, false, false, held);
    return shapes.of(t);
  };
  EXPECT_EQ(shapes.of(t), kNoLocks);
  const LockSetId a = acquire(1);
  acquire(2);
  const LockSetId after_b = release(2);
  EXPECT_NE(a, after_b);
  EXPECT_EQ(shapes.locks(a), shapes.locks(after_b));
  acquire(2);
  const LockSetId third = release(2);  // two shapes of the set are told apart, and this is another one
  EXPECT_TRUE(shapes.vague(third));
  EXPECT_FALSE(shapes.vague(after_b));
  EXPECT_TRUE(shapes.vague(acquire(2)));  // and so is what follows
  EXPECT_TRUE(shapes.vague(release(2)));
  EXPECT_EQ(release(1), kNoLocks);
  EXPECT_EQ(acquire(1), a);
}

TEST(IpaThatForgets, StillBounds) {
  check_all(0, cases() / 2, [](std::span<const Event> trace) -> std::string {
    const Sites expected = truth(trace);
    if (!contains(find(trace, IpaStrategy::kUpper, forgetful()), expected)) {
      return "strategy I misses a pair";
    }
    return contains(expected, find(trace, IpaStrategy::kLower, forgetful())) ? "" : "strategy II invents a pair";
  });
}

TEST(IpaThatForgets, SaysSo) {
  std::ostringstream text;
  text << "T0|acq(k)|1 T0|w(x)|2 T0|rel(k)|3 ";
  for (int i = 0; i < 100; ++i) {
    text << "T1|acq(k)|4 T1|rel(k)|5 ";
  }
  text << "T1|w(x)|6";
  const std::vector<Event> trace = parse_trace(text.str()).events;
  IpaLimits limits;
  EXPECT_TRUE(run(trace, IpaStrategy::kBoth, limits)->notes().empty());
  limits.steps = 40;
  const std::unique_ptr<Detector> detector = run(trace, IpaStrategy::kBoth, limits);
  ASSERT_EQ(detector->notes().size(), 1u);
  EXPECT_EQ(detector->notes()[0],
            "ipa remembers the last 40 lock events of all threads together; for 1 pair of sites that was not enough, "
            "and accesses "
            "that lie further back count as reachable.");
}

// A lock that tb holds since before the wait need not be held when ta sends: the state behind the last notify and wait
// is then not one that every order passes through, and starting there would lose the race.
TEST(IpaStarts, BeforeTheLastNotifyAndWaitWhenALockWasTakenInBetween) {
  const std::vector<Event> trace =
      parse_trace("T0|notify(s)|1 T1|acq(l)|2 T1|wait(s)|3 T1|r(x)|4 T1|rel(l)|5 T0|acq(l)|6 T0|rel(l)|7 T0|w(x)|8")
          .events;
  EXPECT_EQ(truth(trace).size(), 1u);
  for (const IpaLimits& limits : {roomy(), without_the_run()}) {
    EXPECT_EQ(find(trace, IpaStrategy::kBoth, limits), truth(trace));
  }
  // The search itself, from there.
  LockHistories histories;
  for (Index i = 0; i < trace.size(); ++i) {
    if (is_access(trace[i].op)) {
      histories.begin_access(trace[i], EventId{i});
    } else {
      histories.step(trace[i], EventId{i}, kNoStack);
    }
  }
  EXPECT_FALSE(IpaSearch(histories, {ThreadId{0}, ThreadId{1}, 0, 1}).reach(2, 1));
  EXPECT_TRUE(IpaSearch(histories, {ThreadId{0}, ThreadId{1}, 0, 0}).reach(2, 1));
}

TEST(IpaDeadlocks, AreThoseThatTwoThreadsCanRunInto) {
  std::uint64_t found = 0;
  check_all(2, cases() / 2, [&](std::span<const Event> trace) -> std::string {
    const std::set<std::pair<Index, Index>> possible = lock_reachability(trace).deadlocks;
    for (const DeadlockCandidate& deadlock : run(trace, IpaStrategy::kBoth, without_the_run())->deadlocks()) {
      ++found;
      if (!possible.contains({raw(deadlock.acquires[0].id), raw(deadlock.acquires[1].id)})) {
        return "a deadlock that cannot happen";
      }
    }
    return "";
  });
  std::cout << found << " deadlocks\n";
  EXPECT_TRUE(found > 0 || cases() < 10'000);
}

TEST(IpaDeadlocks, OfFigure1HasBothStacksOfLocks) {
  std::ifstream file(std::string(SOOTH_SOURCE_DIR) + "/tests/golden/ipa_figure_1.std");
  std::ostringstream text;
  text << file.rdbuf();
  const TextTrace trace = parse_trace(text.str());
  const std::unique_ptr<Detector> detector = run(trace.events, IpaStrategy::kBoth, IpaLimits());
  ASSERT_EQ(detector->deadlocks().size(), 1u);
  const DeadlockCandidate found = detector->deadlocks()[0];
  ASSERT_EQ(found.acquires.size(), 2u);
  EXPECT_EQ(trace.labels[raw(found.acquires[0].event.site)], "b8");
  EXPECT_EQ(trace.labels[raw(found.acquires[1].event.site)], "a12");
  EXPECT_EQ(detector->lock_sets().locks(found.acquires[0].locks).size(), 2u);  // l2 and l3
  EXPECT_EQ(detector->lock_sets().locks(found.acquires[1].locks).size(), 1u);  // l0
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<LockMode>& theirs = detector->lock_sets().locks(found.acquires[1 - i].locks);
    EXPECT_TRUE(std::any_of(theirs.begin(), theirs.end(),
                            [&](const LockMode& lock) { return lock.lock == found.acquires[i].event.object; }))
        << "nobody holds what acquire " << i << " wants";
  }
}

// Two threads that work on 16 locks, two at a time, in turns of a few events; `ordered`: the lower one first. After
// every fifth lock event it is asked whether the one can be where it is while the other is where it was.
void feed_and_ask(LockHistories& histories, IpaReachability& reachability, std::uint64_t lock_events, bool ordered) {
  Random random(7);
  std::vector<std::uint64_t> held[2];
  std::uint32_t turn = 0;
  EventId id{};
  std::vector<EventId> places[2];  // where accesses could be
  for (std::uint64_t i = 0; i < lock_events; ++i, id = advance(id, 1)) {
    turn = random.percent(20) ? 1 - turn : turn;
    std::vector<std::uint64_t>& mine = held[turn];
    Event e;
    e.thread = ThreadId{turn};
    e.object = random.below(16);
    const bool free = std::find(held[0].begin(), held[0].end(), e.object) == held[0].end() &&
                      std::find(held[1].begin(), held[1].end(), e.object) == held[1].end();
    const bool in_order = !ordered || mine.empty() || mine.back() < e.object;
    if (mine.size() < 2 && free && in_order && random.percent(60)) {
      e.op = Op::kAcquire;
      mine.push_back(e.object);
    } else if (!mine.empty()) {
      e.op = Op::kRelease;
      e.object = mine.back();
      mine.pop_back();
    } else {
      continue;
    }
    histories.step(e, id, kNoStack);
    id = advance(id, 1);
    places[turn].push_back(id);
    const std::vector<EventId>& others = places[1 - turn];
    if (i % 5 == 0 && !others.empty()) {
      const EventId first = others[others.size() - 1 - random.below(std::min<std::size_t>(others.size(), 40))];
      const ThreadId ta{1 - turn};
      const LockPosition a = histories.position_at(ta, first);
      const LockPosition b = histories.end(e.thread);
      if (!histories.lock_sets().protects(histories.held(ta, a), histories.held(e.thread, b))) {
        reachability.decide({ta, e.thread, first, id, a, b}, false);
      }
    }
    histories.trim(50'000);
  }
}

// Whether locks are taken in the order of their numbers, as programs do that do not deadlock.
class IpaCost : public testing::TestWithParam<bool> {};

TEST_P(IpaCost, IsLinearInTheHistoriesAndReuseSavesNineTenthsOfTheCalls) {
  double per_event_of_short = 0;
  for (const std::uint64_t lock_events : {10'000u, 100'000u, 1'000'000u}) {
    IpaLimits limits = without_the_run();
    limits.moves = IpaSearch::Moves::kSteps;
    limits.compare = lock_events <= 100'000;
    LockHistories histories;
    IpaReachability reachability(histories, limits);
    feed_and_ask(histories, reachability, lock_events, GetParam());
    const IpaCounts& counts = reachability.counts();
    const double per_event = static_cast<double>(counts.calls) / static_cast<double>(lock_events);
    std::cout << lock_events << " lock events, " << counts.targets << " targets: " << counts.calls << " calls, "
              << per_event << " per lock event, of " << counts.potential << " potential; without reuse "
              << reachability.counts_anew().calls << "\n";
    if (per_event_of_short == 0) {
      per_event_of_short = per_event;
    }
    EXPECT_LT(per_event, 1.5 * per_event_of_short);
    if (limits.compare) {
      EXPECT_GE(reachability.counts_anew().calls, 10 * counts.calls);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Locks, IpaCost, testing::Bool(),
                         [](const auto& test) { return std::string(test.param ? "InOrder" : "InAnyOrder"); });

}  // namespace
}  // namespace sooth::oracle
