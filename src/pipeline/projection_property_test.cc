// Proofs from the projection of a trace (trace_capture.h) against proofs from all of it, on thousands of random traces:
// the same findings on the same rungs, proven, refuted and left open alike, and what is proven from the projection is a
// witness in the whole trace, too. SOOTH_CASES sets the number of traces, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <tuple>

#include "base/test_environment.h"
#include "oracle/random.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "pipeline/analysis.h"
#include "race/witness_summary.h"
#include "trace/memory_trace.h"

namespace sooth::oracle {
namespace {

// A random trace in which threads also do things to memory of their own, some of it in blocks that are allocated.
MemoryTrace make_trace(std::uint64_t seed) {
  Random random(seed * 7919 + 1);
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.events = 8 + static_cast<std::uint32_t>(seed % 30);
  const RandomTrace made = random_trace(options, seed);
  MemoryTrace trace;
  trace.tables = made.tables;
  for (const Event& event : made.events) {
    for (std::uint32_t extra = random.below(3); event.op != Op::kBegin && extra > 0; --extra) {
      const std::uint64_t place = 0x900000 + 64 * raw(event.thread) + 4 * random.below(6);
      trace.events.push_back({.object = place,
                              .thread = event.thread,
                              .site = event.site,
                              .size = 4,
                              .op = random.percent(50) ? Op::kRead : Op::kWrite});
    }
    trace.events.push_back(event);
  }
  if (random.percent(60)) {
    trace.values = random_values(trace.events, 2, seed);
    trace.info.columns |= kValues;
  }
  if (random.percent(40)) {
    trace.branches = random_branches(trace.events, 6, seed);
    trace.info.columns |= kBranches;
  }
  return trace;
}

Report analyze(const MemoryTrace& trace, std::uint64_t kept, std::size_t batch) {
  AnalysisOptions options;
  options.detectors = *parse_detectors("hb,wcp,syncp,hybrid,ipa,mcm,deadlock");
  options.proof.max_events = kept;
  options.mcm.solver_timeout = std::chrono::milliseconds(0);  // deterministic
  options.read_again = [&]() -> Result<std::unique_ptr<TraceReader>> {
    return std::unique_ptr<TraceReader>(std::make_unique<MemoryTraceReader>(trace, batch));
  };
  MemoryTraceReader reader(trace, batch);
  Result<Report> report = analyze_trace(reader, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return std::move(*report);
}

// What must not depend on how it was proven.
using Verdict = std::tuple<std::multiset<std::string>, int, int, bool, bool, bool>;

std::multiset<Verdict> verdicts(const Report& report) {
  std::multiset<Verdict> all;
  for (const Finding& finding : report.findings) {
    std::multiset<std::string> sites;
    for (const Access& access : finding.accesses) {
      sites.insert(access.site.label);
    }
    all.insert({sites, static_cast<int>(finding.kind), static_cast<int>(finding.rung), finding.observed,
                finding.witness.has_value() && finding.witness->checked,
                finding.witness.has_value() && finding.witness->refuted});
  }
  return all;
}

// The first witness of the report that is none in the whole trace.
std::string wrong_witness(const MemoryTrace& trace, const Report& report, std::uint64_t& checked) {
  const TraceView view{trace.events, trace.values, trace.branches, &trace.tables};
  for (const Finding& finding : report.findings) {
    if (!finding.witness.has_value() || !finding.witness->checked) {
      continue;
    }
    Witness witness;
    witness.kind = finding.kind;
    const Result<std::vector<EventId>> order = expand(*finding.witness, view);
    if (!order.ok()) {
      return order.status().message();
    }
    witness.order = *order;
    for (const Access& access : finding.accesses) {
      witness.next.push_back(access.event);
    }
    if (const Status status = check_witness(view, witness); !status.ok()) {
      return status.message();
    }
    ++checked;
  }
  return "";
}

TEST(ProjectionProperty, SameVerdictsAndWitnessesOfTheWholeTrace) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 3000);
  std::uint64_t projected = 0, checked = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const MemoryTrace trace = make_trace(seed);
    if (trace.events.size() < 2) {
      continue;
    }
    SharedMemory shared;
    shared.consume(trace.events);
    const auto kept = std::count_if(trace.events.begin(), trace.events.end(), [&](const Event& event) {
      return (event.op != Op::kRead && event.op != Op::kWrite) || shared.has(event);
    });
    if (static_cast<std::size_t>(kept) == trace.events.size()) {
      continue;  // nothing to drop
    }
    ++projected;
    const Report whole = analyze(trace, trace.events.size(), 5);
    const Report part = analyze(trace, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kept)), 5);
    ASSERT_EQ(verdicts(whole), verdicts(part)) << "seed " << seed << "\n" << print_trace(trace.events);
    const std::string wrong = wrong_witness(trace, part, checked);
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << print_trace(trace.events);
  }
  std::cout << projected << " of " << cases << " traces had something to drop, " << checked << " witnesses\n";
  EXPECT_GT(projected * 2, cases);
  EXPECT_GT(checked * 4, cases);
}

TEST(SharedMemory, GenerationsAreOtherVariables) {
  const auto access = [](std::uint32_t thread, std::uint64_t object, std::uint32_t size = 4, Op op = Op::kWrite) {
    return Event{.object = object, .thread = ThreadId{thread}, .size = size, .op = op};
  };
  SharedMemory shared;
  const Event events[] = {access(0, 0x1000, 64, Op::kAlloc),
                          access(0, 0x1000),
                          access(0, 0x1000, 64, Op::kFree),
                          access(1, 0x1000, 64, Op::kAlloc),
                          access(1, 0x1000),
                          access(0, 0x2000),
                          access(1, 0x2004),
                          access(0, 0x3000),
                          access(0, 0x3010, 8, Op::kAtomicLoad)};
  shared.consume(events);
  EXPECT_FALSE(shared.has(access(0, 0x1000))) << "two threads, but one after the other in blocks of their own";
  EXPECT_TRUE(shared.has(access(0, 0x2000))) << "neighbours count as one";
  EXPECT_FALSE(shared.has(access(0, 0x3000)));
  EXPECT_TRUE(shared.has(access(0, 0x3008, 16))) << "a range with an atomic in it";
}

}  // namespace
}  // namespace sooth::oracle
