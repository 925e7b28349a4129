// Analyses that see slots for threads (trace/tools/thread_slots.h) against their definitions, on random traces with many
// short threads. SOOTH_CASES sets the number of traces per analysis, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/test_environment.h"
#include "detect/lock_order.h"
#include "detect/syncp.h"
#include "detect/wcp.h"
#include "oracle/oracle.h"
#include "oracle/partial_orders.h"
#include "oracle/random.h"
#include "oracle/short_threads.h"
#include "oracle/sync_preserving.h"
#include "oracle/trace_text.h"
#include "oracle/well_formed.h"
#include "order/made_locks.h"
#include "pipeline/registry.h"
#include "trace/tools/thread_slots.h"

namespace sooth::oracle {
namespace {

using Conflicts = std::vector<Candidate> (*)(std::span<const Event>);
using Make = std::unique_ptr<Detector> (*)(const DetectorOptions&);

struct Analysed {
  std::unique_ptr<Detector> detector;
  ThreadSlots slots;
};

// The seed decides how the trace is cut into batches; 0: into batches of 64.
void run(std::span<const Event> trace, std::uint64_t seed, bool with_slots, Analysed& result) {
  Random random(seed);
  std::vector<Event> buffer;
  for (std::size_t done = 0; done < trace.size();) {
    const std::size_t count = seed == 0 ? 64 : random.percent(30) ? trace.size() - done : random.between(1, 9);
    Batch batch;
    batch.first = EventId{done};
    batch.events = trace.subspan(done, std::min(count, trace.size() - done));
    done += batch.events.size();
    if (with_slots) {
      result.slots.follow(batch);
      batch = result.slots.renamed(batch, buffer);
    }
    result.detector->consume(batch);
  }
  result.detector->finish();
}

struct Property {
  const char* name;
  Make make;
  Conflicts conflicts;
};
void PrintTo(const Property& property, std::ostream* out) { *out << property.name; }

class SlotsProperty : public testing::TestWithParam<Property> {};

TEST_P(SlotsProperty, FindsTheSamePairsAndNamesTheSameThreads) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t with_pairs = 0;
  std::uint64_t with_reuse = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::vector<Event> trace = short_threads(seed);
    const std::vector<SitePair> expected = site_pairs(trace, GetParam().conflicts(trace));
    Analysed slots{GetParam().make({}), {}};
    run(trace, seed, true, slots);
    const std::vector<SitePair> found = sorted(slots.detector->races().pairs());
    ASSERT_TRUE(same_pairs(found, expected)) << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n" << print_trace(trace);
    for (const SitePair& pair : found) {
      for (const AccessRecord& side : {pair.first, pair.second}) {
        ASSERT_EQ(slots.slots.thread(side.event.thread, side.id), trace[raw(side.id)].thread)
            << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
            << print_trace(trace);
      }
    }
    std::uint32_t threads = 0;
    for (const Event& e : trace) {
      threads = std::max(threads, e.op == Op::kFork ? static_cast<std::uint32_t>(e.object) + 1 : raw(e.thread) + 1);
    }
    with_pairs += expected.empty() ? 0 : 1;
    with_reuse += slots.slots.count() < threads ? 1 : 0;
  }
  std::cout << GetParam().name << ": " << cases << " traces, " << with_pairs << " with a pair, " << with_reuse
            << " with a slot used again\n";
  if (cases >= 1'000) {  // or nothing was compared
    EXPECT_GE(with_pairs * 10, cases);
    EXPECT_GE(with_reuse * 4, cases);
  }
}

template <const char* const& name>
std::unique_ptr<Detector> registered(const DetectorOptions& options) {
  return find_detector(name)->make(options);
}
constexpr const char* kHb = "hb";
constexpr const char* kHybrid = "hybrid";
constexpr const char* kSyncp = "syncp";
constexpr const char* kWcp = "wcp";

// wcp_forgetting looks for sections that it may forget after every release.
INSTANTIATE_TEST_SUITE_P(Detectors, SlotsProperty,
                         testing::Values(Property{"hb", registered<kHb>, hb_conflicts},
                                         Property{"hybrid", registered<kHybrid>, hybrid_conflicts},
                                         Property{"syncp", registered<kSyncp>, syncp_conflicts},
                                         Property{"wcp", registered<kWcp>, wcp_conflicts},
                                         Property{"wcp_forgetting",
                                                  [](const DetectorOptions&) { return make_wcp_detector(1); },
                                                  wcp_conflicts}),
                         [](const auto& test) { return std::string(test.param.name); });

// Cycles are compared with those that are found when every thread has its own number.
std::vector<DeadlockCandidate> cycles_of(std::span<const Event> trace, std::uint64_t seed, bool with_slots,
                                         std::size_t max_uses, std::size_t few_uses = 65'536) {
  LockOrderLimits limits;
  limits.max_uses = max_uses;
  limits.few_uses = few_uses;
  Analysed made{make_deadlock_detector(limits), {}};
  run(trace, seed, with_slots, made);
  return made.detector->deadlocks();
}

std::multiset<SiteId> sites_of(const DeadlockCandidate& cycle) {
  std::multiset<SiteId> sites;
  for (const AccessRecord& acquire : cycle.acquires) {
    sites.insert(acquire.event.site);
  }
  return sites;
}

std::uint64_t figure(const Detector& detector, const std::string& name) {
  for (const auto& [label, value] : detector.stats()) {
    if (label == name) {
      return std::stoull(value);
    }
  }
  ADD_FAILURE() << "there is no figure " << name;
  return 0;
}

// Threads that nest two of a few locks in any order, at a site for each pair, and are joined sooner or later: dense in
// cycles of two, three and four.
std::vector<Event> nesting_threads(std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t locks = random.between(2, 4);
  std::vector<Event> trace;
  const auto emit = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t site = 0) {
    trace.push_back({.object = object, .thread = ThreadId{thread}, .site = SiteId{site}, .op = op});
  };
  std::vector<std::uint32_t> running = {0};
  std::uint32_t next = 1;
  for (std::uint32_t step = random.between(16, 60); step > 0; --step) {
    const std::uint32_t what = random.below(100);
    if (what < 30 && running.size() < 5) {
      emit(0, Op::kFork, next);
      running.push_back(next++);
    } else if (what < 55 && running.size() > 1) {
      const std::size_t which = 1 + random.below(static_cast<std::uint32_t>(running.size() - 1));
      emit(running[which], Op::kEnd, 0);
      emit(0, Op::kJoin, running[which]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const std::uint32_t thread = random.pick(running);
      const std::uint32_t outer = random.below(locks);
      const std::uint32_t inner = (outer + 1 + random.below(locks - 1)) % locks;
      emit(thread, Op::kAcquire, outer);
      emit(thread, Op::kAcquire, inner, 1 + outer * locks + inner);
      emit(thread, Op::kRelease, inner);
      emit(thread, Op::kRelease, outer);
    }
  }
  return trace;
}

// Uses of threads that are over may be thinned out at any time: no cycle of two is lost, and none is made up.
TEST(SlotsDeadlocks, OfTwoThreadsOutliveThinningOut) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::vector<Event> trace = short_threads(seed);
    std::set<std::multiset<SiteId>> found;
    std::set<std::multiset<SiteId>> expected;
    for (const DeadlockCandidate& cycle : cycles_of(trace, seed, true, 1)) {
      found.insert(sites_of(cycle));
    }
    for (const DeadlockCandidate& cycle : cycles_of(trace, seed, false, 65'536)) {
      ASSERT_TRUE(cycle.acquires.size() > 2 || found.contains(sites_of(cycle)))
          << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
          << print_trace(trace);
      expected.insert(sites_of(cycle));
    }
    ASSERT_TRUE(std::includes(expected.begin(), expected.end(), found.begin(), found.end()))
        << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
        << print_trace(trace);
  }
}

// Uses for which others stand may be left out at any time: no cycle is lost, whatever its length, and none is made up.
TEST(SlotsDeadlocks, OutliveLeavingOut) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const auto counted = [](const std::vector<DeadlockCandidate>& cycles) {
    std::map<std::multiset<SiteId>, std::uint64_t> all;
    for (const DeadlockCandidate& cycle : cycles) {
      all[sites_of(cycle)] = cycle.cycles;
    }
    return all;
  };
  std::uint64_t left_out = 0;
  std::uint64_t longer = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::vector<Event> trace = seed % 2 == 0 ? short_threads(seed) : nesting_threads(seed);
    LockOrderLimits limits;
    limits.few_uses = 1;
    Analysed made{make_deadlock_detector(limits), {}};
    run(trace, seed, true, made);
    const auto expected = cycles_of(trace, seed, false, 65'536);
    ASSERT_EQ(counted(made.detector->deadlocks()), counted(expected)) << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
                                                                      << print_trace(trace);
    left_out += figure(*made.detector, "lock uses left out") > 0 ? 1 : 0;
    longer +=
        std::any_of(expected.begin(), expected.end(), [](const auto& c) { return c.acquires.size() > 2; }) ? 1 : 0;
  }
  std::cout << "left out in " << left_out << " traces; " << longer << " with a cycle of three or more\n";
  EXPECT_TRUE(cases < 1'000 || (left_out * 20 >= cases && longer * 50 >= cases));
}

// Workers for ever, short threads two at a time; all of them nest locks, which the short ones do in an order of their own.
std::vector<Event> server(std::uint32_t threads) {
  std::vector<Event> trace;
  const auto emit = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t site = 0) {
    trace.push_back({.object = object, .thread = ThreadId{thread}, .site = SiteId{site}, .op = op});
  };
  const auto nest = [&](std::uint32_t thread, std::uint64_t inner) {
    emit(thread, Op::kAcquire, 1);
    emit(thread, Op::kAcquire, inner, static_cast<std::uint32_t>(inner));
    emit(thread, Op::kRelease, inner);
    emit(thread, Op::kRelease, 1);
  };
  emit(0, Op::kFork, 1);
  emit(0, Op::kFork, 2);
  for (std::uint32_t t = 3; t < 3 + threads; t += 2) {
    emit(0, Op::kFork, t);
    emit(0, Op::kFork, t + 1);
    for (std::uint32_t worker = 1; worker <= 2; ++worker) {
      nest(worker, 2);
      nest(t + worker - 1, 2 + worker);
      emit(t + worker - 1, Op::kEnd, 0);
    }
    emit(0, Op::kJoin, t);
    emit(0, Op::kJoin, t + 1);
  }
  return trace;
}

// What is kept of the uses of locks does not grow with the threads of a program that never changes, long before the
// limit at which cycles could be lost.
TEST(SlotsDeadlocks, RememberNoMoreOfAServerThatRunsOn) {
  LockOrderLimits limits;
  limits.few_uses = 64;
  for (const std::uint32_t threads : {1'000u, 20'000u}) {
    Analysed made{make_deadlock_detector(limits), {}};
    run(server(threads), 0, true, made);
    EXPECT_LE(figure(*made.detector, "lock uses"), 128u + 64u) << threads;  // twice, and a batch
    EXPECT_GE(figure(*made.detector, "lock uses left out"), threads - 192) << threads;
    EXPECT_EQ(figure(*made.detector, "lock uses thinned out"), 0u) << threads;
  }
}

TEST(SlotsDeadlocks, AreTheSameWithSlotsAndWithout) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t cycles = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::vector<Event> trace = short_threads(seed);
    const auto found = cycles_of(trace, seed, true, 65'536);
    const auto expected = cycles_of(trace, seed, false, 65'536);
    ASSERT_EQ(found.size(), expected.size()) << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n" << print_trace(trace);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].cycles, expected[i].cycles);
      ASSERT_EQ(found[i].acquires.size(), expected[i].acquires.size());
      for (std::size_t k = 0; k < found[i].acquires.size(); ++k) {
        EXPECT_EQ(found[i].acquires[k].id, expected[i].acquires[k].id);
      }
    }
    cycles += found.size();
  }
  std::cout << "deadlock: " << cycles << " cycles\n";
  EXPECT_TRUE(cases < 1'000 || cycles * 100 >= cases);
}

// A program that starts threads that use a lock, nest another one in it, and access memory, and joins each before it
// starts the next.
std::vector<Event> one_after_the_other(std::uint32_t threads) {
  std::vector<Event> trace;
  const auto emit = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size = 0) {
    Event e;
    e.thread = ThreadId{thread};
    e.op = op;
    e.object = object;
    e.size = size;
    trace.push_back(e);
  };
  for (std::uint32_t t = 1; t <= threads; ++t) {
    emit(0, Op::kFork, t);
    emit(t, Op::kAcquire, 1);
    emit(t, Op::kAcquire, 2);
    emit(t, Op::kWrite, 64, 8);
    emit(t, Op::kRelease, 2);
    emit(t, Op::kRelease, 1);
    emit(t, Op::kRead, 72, 8);
    emit(0, Op::kWrite, 80, 8);
    emit(t, Op::kEnd, 0);
    emit(0, Op::kJoin, t);
  }
  return trace;
}

// All that the statistics count is the same after ten times as many threads, but for counts of what was done.
TEST(SlotsMemory, IsThatOfLiveThreads) {
  for (const char* name : {"hb", "hybrid", "wcp", "syncp"}) {
    std::vector<std::vector<std::pair<std::string, std::string>>> figures;
    for (const std::uint32_t threads : {1'000u, 10'000u}) {
      Analysed made{name == std::string("wcp") ? make_wcp_detector(64) : find_detector(name)->make({}), {}};
      if (name == std::string("syncp")) {
        SyncpLimits limits;
        limits.remember = 1'000;
        made.detector = make_syncp_detector(limits);
      }
      run(one_after_the_other(threads), 0, true, made);
      EXPECT_EQ(made.slots.count(), 2u);
      figures.push_back(made.detector->stats());
    }
    for (std::size_t i = 0; i < figures[0].size(); ++i) {
      const std::string& label = figures[0][i].first;
      const bool counts_work = label.find("of events") != std::string::npos ||
                               label.find("at the end") != std::string::npos ||
                               label.find("examined") != std::string::npos || label.find("closures") == 0 ||
                               label.find("visited") != std::string::npos;
      EXPECT_TRUE(counts_work || figures[0][i] == figures[1][i])
          << name << ": " << label << " " << figures[0][i].second << " and " << figures[1][i].second;
    }
  }
}

TEST(ShortThreads, AreWellFormed) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    ASSERT_EQ(why_malformed(short_threads(seed)), "") << seed << '\n' << print_trace(short_threads(seed));
  }
}

struct MadeTrace {
  std::vector<Event> events;
  std::vector<Value> values;
};

// Threads that are joined sooner or later and use words as locks of their own: by exchange, by tickets, by semaphores. What
// one has taken another one gives back at times, also one that comes later.
MadeTrace threads_with_made_locks(std::uint64_t seed) {
  constexpr std::uint64_t kFlag = 64, kSeen = 128, kTicket = 192, kTurn = 256, kSemaphore = 320;
  Random random(seed);
  MadeTrace trace;
  std::map<std::uint64_t, std::uint64_t> memory;
  const auto emit = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint64_t value = 0) {
    const bool access = is_atomic(op);
    trace.events.push_back({.object = object, .thread = ThreadId{thread}, .size = access ? 8u : 0u, .op = op});
    Value with;
    with.low = value;
    with.size = access ? 8 : 0;
    trace.values.push_back(with);
  };
  const auto load = [&](std::uint32_t thread, std::uint64_t word) {
    emit(thread, Op::kAtomicLoad, word, memory[word]);
    return memory[word];
  };
  const auto store = [&](std::uint32_t thread, std::uint64_t word, std::uint64_t value) {
    emit(thread, Op::kAtomicStore, word, value);
    memory[word] = value;
  };
  std::vector<std::uint32_t> running = {0};
  std::optional<std::uint32_t> holder, waiting;
  std::uint32_t next = 1;
  emit(0, Op::kSemPost, kSemaphore);
  for (std::uint32_t step = random.between(20, 80); step > 0; --step) {
    const std::uint32_t what = random.below(100);
    const std::uint32_t thread = random.pick(running);
    if (what < 20 && running.size() < 4) {
      emit(0, Op::kFork, next);
      running.push_back(next++);
    } else if (what < 40 && running.size() > 1) {
      const std::size_t which = 1 + random.below(static_cast<std::uint32_t>(running.size() - 1));
      emit(running[which], Op::kEnd, 0);
      emit(0, Op::kJoin, running[which]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (what < 55) {
      if (random.percent(40) && load(thread, kFlag) != 0) {
        waiting = thread;
        continue;
      }
      emit(thread, Op::kAtomicRmw, kFlag, memory[kFlag]);
      holder = memory[kFlag] == 0 ? thread : holder;
      memory[kFlag] = 1;
    } else if (what < 75) {
      if (memory[kFlag] != 0 && (holder == thread || random.percent(5))) {
        store(thread, kFlag, 0);
      }
    } else if (what < 85) {
      emit(thread, Op::kSemWait, kSemaphore);
      if (random.percent(97)) {
        emit(thread, Op::kSemPost, kSemaphore);
      }
    } else if (what < 95) {
      emit(thread, Op::kAtomicRmw, kTicket, memory[kTicket]++);
      const std::uint64_t turn = load(thread, kTurn);
      if (random.percent(97)) {
        store(thread, kTurn, turn + 1);
      }
    } else {
      store(thread, kSeen, load(thread, kSeen) + 1);
    }
  }
  return trace;
}

TEST(SlotsMadeLocks, AreThoseOfThreads) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t locks = 0, reversible = 0, reused = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const MadeTrace trace = threads_with_made_locks(seed);
    Batch batch;
    batch.events = trace.events;
    batch.values = trace.values;
    ThreadSlots slots;
    slots.follow(batch);
    std::vector<Event> buffer;
    MadeLockFinder by_slot, by_thread;
    by_slot.consume(batch, slots.renamed(batch, buffer));
    by_thread.consume(batch);
    const std::vector<MadeLock> found = by_slot.finish(), expected = by_thread.finish();
    ASSERT_EQ(found.size(), expected.size()) << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
                                             << print_trace(trace.events);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto facts = [](const MadeLock& lock) {
        return std::tuple(lock.object, lock.excludes, lock.reversible, lock.meant, lock.words.size());
      };
      ASSERT_EQ(facts(found[i]), facts(expected[i])) << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
                                                     << print_trace(trace.events);
      ASSERT_EQ(found[i].steps, expected[i].steps) << "SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
                                                   << print_trace(trace.events);
      reversible += found[i].reversible ? 1 : 0;
    }
    locks += found.size();
    const auto forks =
        std::count_if(trace.events.begin(), trace.events.end(), [](const Event& e) { return e.op == Op::kFork; });
    reused += slots.count() < static_cast<std::size_t>(forks) + 1 ? 1 : 0;
  }
  std::cout << cases << " traces, " << locks << " locks, " << reversible << " reversible, " << reused
            << " traces with a slot used again\n";
  if (cases >= 1'000) {  // or nothing was compared
    EXPECT_GE(locks * 2, cases);
    EXPECT_GE(reused * 2, cases);
  }
}

}  // namespace
}  // namespace sooth::oracle
