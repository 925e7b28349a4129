#include "detect/lock_order.h"
#include "base/test_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "oracle/explorer.h"
#include "oracle/lock_cycles.h"
#include "oracle/minimise.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth {
namespace {

using oracle::CycleSites;
using oracle::parse_trace;
using oracle::print_trace;
using oracle::TextTrace;

std::unique_ptr<Detector> run(std::span<const Event> trace, const LockOrderLimits& limits = {}) {
  std::unique_ptr<Detector> detector = make_deadlock_detector(limits);
  Batch batch;
  batch.events = trace;
  detector->consume(batch);
  detector->finish();
  return detector;
}

std::set<CycleSites> sites_found(std::span<const Event> trace, const LockOrderLimits& limits = {}) {
  std::set<CycleSites> all;
  for (const DeadlockCandidate& cycle : run(trace, limits)->deadlocks()) {
    CycleSites sites;
    for (const AccessRecord& acquire : cycle.acquires) {
      sites.push_back(acquire.event.site);
    }
    std::sort(sites.begin(), sites.end());
    all.insert(sites);
  }
  return all;
}

// The cycles in order of their first acquire: "2,7,11 3,9".
std::string cycles(const std::string& text, const LockOrderLimits& limits = {}) {
  const TextTrace trace = parse_trace(text);
  std::string line;
  for (const DeadlockCandidate& cycle : run(trace.events, limits)->deadlocks()) {
    line += line.empty() ? "" : " ";
    for (std::size_t i = 0; i < cycle.acquires.size(); ++i) {
      line += (i == 0 ? "" : ",") + trace.labels[raw(cycle.acquires[i].event.site)];
    }
  }
  return line;
}

TEST(LockOrderTest, TwoThreadsInOppositeOrder) {
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8"), "2,6");
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 B|acq(l)|5 B|acq(m)|6 B|rel(m)|7 B|rel(l)|8"), "");
}

// Of a helper that takes two locks, called for (a, b) and (b, a), and for (c, d) and (d, c).
TEST(LockOrderTest, TwoDeadlocksOfOneHelperAreTwo) {
  const auto both = [](const char* thread, const char* first, const char* second) {
    const std::string t(thread);
    return t + "|acq(" + first + ")|1 " + t + "|acq(" + second + ")|2 " + t + "|rel(" + second + ")|3 " + t + "|rel(" +
           first + ")|4 ";
  };
  const std::string text = both("A", "a", "b") + both("A", "c", "d") + both("B", "b", "a") + both("B", "d", "c");
  EXPECT_EQ(cycles(text), "2,2 2,2");
  // A list of locks, any two of which are taken in any order: some stand for all.
  std::string many;
  for (const char* thread : {"A", "B"}) {
    for (const char* first : {"a", "b", "c", "d"}) {
      for (const char* second : {"a", "b", "c", "d"}) {
        many += first == second ? "" : both(thread, first, second);
      }
    }
  }
  EXPECT_EQ(cycles(many), "2,2 2,2 2,2 2,2");
}

TEST(LockOrderTest, WhoTriesDoesNotWaitButHolds) {
  const std::string other = " B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8";
  EXPECT_EQ(cycles("A|tryacq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4" + other), "2,6");
  EXPECT_EQ(cycles("A|timedacq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4" + other), "2,6");
  EXPECT_EQ(cycles("A|acq(l)|1 A|tryacq(m)|2 A|rel(m)|3 A|rel(l)|4" + other), "");
  EXPECT_EQ(cycles("A|acq(l)|1 A|timedacq(m)|2 A|rel(m)|3 A|rel(l)|4" + other), "");
  EXPECT_EQ(cycles("A|racq(l)|1 A|rtryacq(m)|2 A|rrel(m)|3 A|rrel(l)|4" + other), "");
  EXPECT_EQ(cycles("A|acq(l)|1 A|tryfail(m)|2 A|rel(l)|4" + other), "");
}

TEST(LockOrderTest, OneThreadIsNoDeadlock) {
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|acq(m)|5 A|acq(l)|6 A|rel(l)|7 A|rel(m)|8"), "");
}

TEST(LockOrderTest, AllOrdersAreWhatThreadSanitizerTells) {
  LockOrderLimits all;
  all.all_orders = true;
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|acq(m)|5 A|acq(l)|6 A|rel(l)|7 A|rel(m)|8", all),
            "2,6");
  const char* kGated =
      "A|acq(g)|0 A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|rel(g)|4 "
      "B|acq(g)|5 B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8 B|rel(g)|9";
  EXPECT_EQ(cycles(kGated, all), "2,6");
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 B|acq(l)|5 B|acq(m)|6", all), "");
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|acq(n)|3 A|rel(n)|4 A|rel(m)|4 A|rel(l)|4 A|acq(n)|5 A|acq(l)|6", all),
            "3,6");
}

TEST(LockOrderTest, AGateLockKeepsThemApart) {
  const char* kGated =
      "A|acq(g)|0 A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|rel(g)|4 "
      "B|acq(g)|5 B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8 B|rel(g)|9";
  EXPECT_EQ(cycles(kGated), "");
  // Held shared by both it does not; exclusively by one of them it does.
  const char* kReaders =
      "A|racq(g)|0 A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|rrel(g)|4 "
      "B|racq(g)|5 B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8 B|rrel(g)|9";
  EXPECT_EQ(cycles(kReaders), "2,6");
  const char* kMixed =
      "A|racq(g)|0 A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|rrel(g)|4 "
      "B|acq(g)|5 B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8 B|rel(g)|9";
  EXPECT_EQ(cycles(kMixed), "");
}

TEST(LockOrderTest, ReadersBlockWritersOnly) {
  const char* kAllShared = "A|racq(l)|1 A|racq(m)|2 A|rrel(m)|3 A|rrel(l)|4 B|racq(m)|5 B|racq(l)|6";
  EXPECT_EQ(cycles(kAllShared), "");
  const char* kWritersWait = "A|racq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rrel(l)|4 B|racq(m)|5 B|acq(l)|6";
  EXPECT_EQ(cycles(kWritersWait), "2,6");
  const char* kReadersWait = "A|acq(l)|1 A|racq(m)|2 A|rrel(m)|3 A|rel(l)|4 B|acq(m)|5 B|racq(l)|6";
  EXPECT_EQ(cycles(kReadersWait), "2,6");
  const char* kOneSide = "A|racq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rrel(l)|4 B|acq(m)|5 B|racq(l)|6";
  EXPECT_EQ(cycles(kOneSide), "");
}

TEST(LockOrderTest, ReentrantAcquiresWaitForNobody) {
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|acq(l)|3 A|rel(l)|4 A|rel(m)|4 A|rel(l)|4 B|acq(l)|5 B|acq(m)|6"), "");
}

TEST(LockOrderTest, MustOrderedAcquiresCannotMeet) {
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 A|fork(B)|4 B|acq(m)|5 B|acq(l)|6"), "");
  EXPECT_EQ(cycles("A|fork(B)|0 B|acq(l)|1 B|acq(m)|2 B|rel(m)|3 B|rel(l)|4 A|join(B)|4 A|acq(m)|5 A|acq(l)|6"), "");
  EXPECT_EQ(cycles("A|fork(B)|0 A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 B|acq(m)|5 B|acq(l)|6"), "2,6");
}

// C's acquire meets both of A's; A's second one comes after B's, its first one does not.
TEST(LockOrderTest, OneCombinationOfInstancesSuffices) {
  EXPECT_EQ(cycles("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 "
                   "B|acq(m)|5 B|acq(n)|6 B|rel(n)|7 B|rel(m)|8 B|notify(s)|9 A|wait(s)|9 "
                   "A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 "
                   "C|acq(n)|10 C|acq(l)|11 C|rel(l)|12 C|rel(n)|13"),
            "2,6,11");
}

// A philosopher's acquire of the second fork, for n of them.
std::string philosophers(int n) {
  std::ostringstream text;
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    text << "P" << i << "|acq(f" << i << ")|left P" << i << "|acq(f" << next << ")|right P" << i << "|rel(f" << next
         << ")|out P" << i << "|rel(f" << i << ")|out ";
  }
  return text.str();
}

TEST(LockOrderTest, PhilosophersOfAnyNumber) {
  EXPECT_EQ(cycles(philosophers(3)), "right,right,right");
  EXPECT_EQ(cycles(philosophers(9)), "right,right,right,right,right,right,right,right,right");
  const auto many = run(parse_trace(philosophers(60)).events);
  ASSERT_EQ(many->deadlocks().size(), 1u);
  EXPECT_EQ(many->deadlocks()[0].acquires.size(), 60u);
  EXPECT_TRUE(many->notes().empty());
}

TEST(LockOrderTest, PhilosophersUpToTheLimit) {
  LockOrderLimits few;
  few.max_threads = 8;
  EXPECT_EQ(run(parse_trace(philosophers(8)).events, few)->deadlocks().size(), 1u);
  EXPECT_TRUE(run(parse_trace(philosophers(8)).events, few)->notes().empty());
  const auto limited = run(parse_trace(philosophers(9)).events, few);
  EXPECT_TRUE(limited->deadlocks().empty());
  ASSERT_EQ(limited->notes().size(), 1u);
  EXPECT_NE(limited->notes()[0].find("at most 8 threads"), std::string::npos) << limited->notes()[0];
}

TEST(LockOrderTest, SaysWhenItStopsEarly) {
  LockOrderLimits few;
  few.max_steps = 3;
  const auto stopped = run(parse_trace(philosophers(5)).events, few);
  EXPECT_TRUE(stopped->deadlocks().empty());
  ASSERT_EQ(stopped->notes().size(), 1u);
  EXPECT_NE(stopped->notes()[0].find("after 3 steps"), std::string::npos) << stopped->notes()[0];
}

// In cycle order from the earliest on, each with what it held.
TEST(LockOrderTest, TellsTheCycleInOrder) {
  const TextTrace trace = parse_trace(
      "A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 C|acq(n)|5 C|acq(l)|6 C|rel(l)|7 "
      "C|rel(n)|8 B|acq(m)|9 B|acq(n)|10");
  const auto detector = run(trace.events);
  const std::vector<DeadlockCandidate> found = detector->deadlocks();
  ASSERT_EQ(found.size(), 1u);
  const std::vector<AccessRecord>& acquires = found[0].acquires;
  ASSERT_EQ(acquires.size(), 3u);
  EXPECT_EQ(raw(acquires[0].id), 1u);  // A waits for m, which B holds; B for n, which C holds; C for l
  EXPECT_EQ(raw(acquires[1].id), 9u);
  EXPECT_EQ(raw(acquires[2].id), 5u);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<LockMode>& held = detector->lock_sets().locks(acquires[(i + 1) % 3].locks);
    ASSERT_EQ(held.size(), 1u);
    EXPECT_EQ(held[0].lock, acquires[i].event.object);
  }
}

// One section after the other, each of two or three locks in any order: dense in cycles, also of many threads.
std::vector<Event> nesting_trace(std::uint64_t seed, std::uint32_t rounds, std::uint32_t sites) {
  oracle::Random random(seed);
  const std::uint32_t threads = random.between(2, 5);
  const std::uint32_t locks = random.between(2, 5);
  const std::uint32_t shared_percent = std::array{0u, 0u, 30u, 60u}[random.below(4)];
  const std::uint32_t must_percent = std::array{0u, 15u, 40u}[random.below(3)];
  const std::uint32_t try_percent = seed % 4 == 3 ? 30 : 0;
  std::vector<Event> trace;
  const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object, bool shared = false) {
    Event e;
    e.object = object;
    e.thread = ThreadId{thread};
    e.site = SiteId{sites == 0 ? static_cast<std::uint32_t>(trace.size()) : random.below(sites)};
    e.op = op;
    e.flags = shared ? kShared : std::uint8_t{0};
    if (try_percent != 0 && op == Op::kAcquire && random.percent(try_percent)) {
      e.flags |= random.percent(50) ? kTry : kTimed;
    }
    trace.push_back(e);
  };
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const std::uint32_t thread = random.below(threads);
    if (random.percent(must_percent)) {
      add(thread, random.percent(50) ? Op::kNotify : Op::kWait, random.below(2));
    }
    std::vector<std::pair<std::uint64_t, bool>> held;
    for (std::uint32_t n = random.percent(25) ? 3 : 2; n > 0; --n) {
      const std::uint64_t lock = random.below(locks);
      if (std::none_of(held.begin(), held.end(), [&](const auto& h) { return h.first == lock; })) {
        held.emplace_back(lock, random.percent(shared_percent));
        add(thread, Op::kAcquire, lock, held.back().second);
      }
    }
    while (!held.empty()) {
      const auto it = held.begin() + static_cast<std::ptrdiff_t>(random.below(held.size()));
      add(thread, Op::kRelease, it->first, it->second);
      held.erase(it);
    }
  }
  return trace;
}

// Sections that overlap, re-entrant acquires, every kind of must-order; nested or not.
std::vector<Event> overlapping_trace(std::uint64_t seed, std::uint32_t events) {
  using oracle::Action;
  oracle::RandomTraceOptions options;
  options.events = events;
  options.threads = 2 + static_cast<std::uint32_t>(seed % 4);
  options.locks = 2 + static_cast<std::uint32_t>(seed / 4 % 3);
  options.variables = 1;
  options.sites = seed % 3 == 0 ? 4 : 60;
  options.nested = seed / 2 % 2 == 0;
  options.shared_percent = seed / 5 % 2 == 0 ? 0 : 40;
  options.reentrant_percent = 10;
  options.try_percent = seed / 3 % 4 == 3 ? 40 : 0;
  const std::uint32_t must = seed / 7 % 2 == 0 ? 0 : 1;
  options.forked_percent = 40 * must;
  const auto weigh = [&](Action action, std::uint32_t weight) {
    options.weights[static_cast<std::size_t>(action)] = weight;
  };
  weigh(Action::kAccess, 1);
  weigh(Action::kAcquire, 12);
  weigh(Action::kRelease, 9);
  for (Action action : {Action::kFork, Action::kJoin, Action::kNotify, Action::kWait, Action::kBefore, Action::kAfter,
                        Action::kArrive, Action::kLeave, Action::kPost, Action::kSemWait, Action::kAtomic}) {
    weigh(action, must);
  }
  return oracle::random_trace(options, seed).events;
}

// What the limit on moments costs: cycles too many, never one too few. B's acquire lies between the first two of A's;
// told apart only from the third, they look as if they could meet it.
TEST(LockOrderTest, MergedMomentsOnlyAddCycles) {
  const std::string section = "A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 ";
  const std::string trace = section + "A|notify(s)|0 B|wait(s)|0 B|acq(m)|5 B|acq(l)|6 B|rel(l)|7 B|rel(m)|8 " +
                            "B|notify(t)|0 A|wait(t)|0 " + section + "A|notify(s)|0 B|notify(t)|0 A|wait(t)|0 " +
                            section;
  LockOrderLimits coarse;
  coarse.max_moments = 2;
  EXPECT_EQ(cycles(trace), "");
  EXPECT_EQ(cycles(trace, coarse), "6,2");
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    const std::vector<Event> random = nesting_trace(seed, 14, 1);
    const std::set<CycleSites> exact = oracle::lock_cycle_sites(random);
    const std::set<CycleSites> found = sites_found(random, coarse);
    ASSERT_TRUE(std::includes(found.begin(), found.end(), exact.begin(), exact.end())) << print_trace(random);
  }
}

std::string show(const std::set<CycleSites>& cycles) {
  std::ostringstream out;
  for (const CycleSites& cycle : cycles) {
    for (const SiteId site : cycle) {
      out << ' ' << raw(site);
    }
    out << '\n';
  }
  return out.str();
}

TEST(LockOrderTest, ReportsExactlyTheCyclesOfTheDefinition) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const auto differs = [](std::span<const Event> t) { return sites_found(t) != oracle::lock_cycle_sites(t); };
  std::map<std::size_t, std::uint64_t> by_length;
  std::uint64_t with_cycles = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::uint32_t size = static_cast<std::uint32_t>(seed / 2 % 8);
    const std::vector<Event> trace =
        seed % 2 == 0 ? overlapping_trace(seed, 12 + size * 4) : nesting_trace(seed, 4 + size, seed % 3 == 0 ? 3 : 0);
    const std::set<CycleSites> expected = oracle::lock_cycle_sites(trace);
    with_cycles += expected.empty() ? 0 : 1;
    for (const CycleSites& cycle : expected) {
      ++by_length[cycle.size()];
    }
    if (differs(trace)) {
      const std::vector<Event> small = oracle::minimise(trace, differs);
      FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0:\n"
             << print_trace(small) << "it reports\n"
             << show(sites_found(small)) << "by definition\n"
             << show(oracle::lock_cycle_sites(small));
    }
  }
  std::cout << cases << " traces, " << with_cycles << " with a cycle;";
  for (const auto& [length, count] : by_length) {
    std::cout << " " << count << " of " << length << " threads";
  }
  std::cout << "\n";
  if (cases >= 1'000) {
    EXPECT_GE(with_cycles * 10, cases);
    EXPECT_LE(with_cycles * 10, cases * 9);
    EXPECT_GT(by_length[3], 0u);
    EXPECT_GT(by_length[4], 0u);
  }
}

// The sites of `cycle` are among those of the deadlock.
bool contains_cycle(std::vector<SiteId> deadlock, const CycleSites& cycle) {
  std::sort(deadlock.begin(), deadlock.end());
  return std::includes(deadlock.begin(), deadlock.end(), cycle.begin(), cycle.end());
}

TEST(LockOrderTest, EveryPredictableDeadlockContainsAReportedCycle) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t deadlocks = 0;
  std::uint64_t reported = 0;
  std::uint64_t real = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::uint32_t size = static_cast<std::uint32_t>(seed / 2 % 9);
    const std::vector<Event> trace =
        seed % 2 == 0 ? overlapping_trace(seed, 10 + size) : nesting_trace(seed, 2 + size / 2, seed % 3 == 0 ? 3 : 0);
    const std::set<CycleSites> found = sites_found(trace);
    const oracle::Exploration exploration = oracle::explore(trace);
    ASSERT_TRUE(exploration.complete);
    std::set<CycleSites> reached;
    for (const auto& [acquires, witness] : exploration.deadlocks) {
      std::vector<SiteId> sites;
      for (const EventId acquire : acquires) {
        sites.push_back(trace[raw(acquire)].site);
      }
      bool known = false;
      for (const CycleSites& cycle : found) {
        if (contains_cycle(sites, cycle)) {
          reached.insert(cycle);
          known = true;
        }
      }
      ASSERT_TRUE(known) << "seed " << seed << "\n" << print_trace(trace);
    }
    deadlocks += exploration.deadlocks.size();
    reported += found.size();
    real += reached.size();
  }
  std::cout << cases << " traces, " << deadlocks << " predictable deadlocks, " << reported << " cycles reported, "
            << real << " of them part of one\n";
  if (cases >= 1'000) {
    EXPECT_GT(deadlocks * 20, cases);
  }
}

}  // namespace
}  // namespace sooth
