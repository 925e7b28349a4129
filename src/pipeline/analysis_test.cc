#include "pipeline/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/memory_trace.h"
#include "trace/text/std_text.h"

namespace sooth {
namespace {

Result<Report> analyze(std::string_view text, const std::string& with) {
  auto reader = read_std_text(text, "test", {kStacks});
  AnalysisOptions options;
  options.detectors = *parse_detectors(with);
  return analyze_trace(**reader, options);
}

TEST(AnalysisTest, MisusesAreFindingsThatWereObserved) {
  const Result<Report> report = analyze(
      "T0|acq(m)|1\nT0|misuse.double_lock(m)|2\nT0|misuse.double_lock(m)|2\nT0|fork(T1)|3\nT0|misuse.thread_leak(T1)|"
      "4\n",
      "hb,misuse");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->findings.size(), 2u);
  const Finding& lock = report->findings[0];
  EXPECT_EQ(lock.kind, FindingKind::kMisuse);
  EXPECT_EQ(lock.misuse, MisuseKind::kDoubleLock);
  EXPECT_EQ(lock.rung, Rung::kPredicted);
  EXPECT_TRUE(lock.observed);
  EXPECT_EQ(lock.dynamic_pairs, 2u);
  EXPECT_EQ(lock.accesses.at(0).variable, "m");
  EXPECT_EQ(lock.accesses.at(0).size, 0u) << "the kind of misuse is no number of bytes";
  EXPECT_EQ(lock.accesses.at(0).locks, std::vector<std::string>{"m"});
  const Finding& leak = report->findings[1];
  EXPECT_EQ(leak.misuse, MisuseKind::kThreadLeak);
  EXPECT_EQ(leak.accesses.at(0).op, Op::kFork);
  EXPECT_EQ(leak.accesses.at(0).variable, "T1");
  EXPECT_EQ(leak.accesses.at(0).site.label, "3");
}

// Two races, one in the first and one in the last of ten thousand events.
MemoryTrace early_and_late_race() {
  MemoryTrace trace;
  for (std::uint32_t at = 0; at < 4; ++at) {
    trace.tables.add_site(Site{"a.c:" + std::to_string(at + 1), "a.c", "f", "app", at, at + 1, 0});
  }
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    trace.tables.add_thread("T" + std::to_string(thread));
  }
  const auto write = [&](std::uint64_t address, std::uint32_t thread, std::uint32_t site) {
    trace.events.push_back(
        {.object = address, .thread = ThreadId{thread}, .site = SiteId{site}, .size = 4, .op = Op::kWrite});
  };
  write(0x1000, 0, 0);
  write(0x1000, 1, 1);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    write(0x100000 + 8 * i, 0, 0);
  }
  write(0x2000, 0, 2);
  write(0x2000, 1, 3);
  return trace;
}

std::size_t sentences_with(const Report& report, std::string_view words) {
  return static_cast<std::size_t>(
      std::count_if(report.not_covered.begin(), report.not_covered.end(),
                    [&](const Gap& gap) { return gap.text.find(words) != std::string::npos; }));
}

TEST(AnalysisTest, WhoWouldTakeTooMuchMemoryEndsEarlyAndKeepsWhatItFound) {
  const MemoryTrace trace = early_and_late_race();
  AnalysisOptions options;
  options.detectors = *parse_detectors("hb,hybrid,ipa,misuse");
  options.memory_sample_events = 1;
  options.max_memory = 1'000'000'000;
  std::uint64_t bytes = 0;
  std::uint64_t growth = 0;
  options.memory_in_use = [&] { return bytes += growth; };
  const auto analyzed = [&] {
    bytes = 0;
    MemoryTraceReader reader(trace, 100);
    return *analyze_trace(reader, options);
  };
  const Report whole = analyzed();
  EXPECT_EQ(whole.findings.size(), 2u);
  EXPECT_FALSE(whole.incomplete);
  growth = 5'000'000;
  const Report part = analyzed();
  EXPECT_TRUE(part.incomplete);
  ASSERT_EQ(part.findings.size(), 1u);
  EXPECT_EQ(part.findings[0].found_by, whole.findings[0].found_by);
  for (const char* name : {"hb", "hybrid", "ipa", "misuse"}) {
    EXPECT_EQ(sentences_with(part, std::string(name) + " ended after "), 1u) << name;
  }
  EXPECT_EQ(sentences_with(part, "1000 MB of --max-memory"), 4u);
}

TEST(AnalysisTest, AFirstLookThatTakesTooMuchMemoryEndsTheTrace) {
  const MemoryTrace trace = early_and_late_race();
  AnalysisOptions options;
  options.detectors = *parse_detectors("hb");
  options.memory_sample_events = 1;
  options.first_look_events = 500;
  options.reopen = [&]() -> Result<std::unique_ptr<TraceReader>> {
    return std::unique_ptr<TraceReader>(std::make_unique<MemoryTraceReader>(trace, 100));
  };
  options.max_memory = 1'000'000;
  std::uint64_t asked = 0;
  options.memory_in_use = [&] { return ++asked < 20 ? 0 : options.max_memory + 1; };
  MemoryTraceReader reader(trace, 100);
  const Result<Report> report = analyze_trace(reader, options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->findings.size(), 1u);
  EXPECT_TRUE(report->incomplete);
  EXPECT_LT(report->stats.events, trace.events.size());
  EXPECT_EQ(sentences_with(*report, "Only the first "), 1u);
}

// Inlined twice, a line has two program counters; it is one place all the same.
TEST(AnalysisTest, CountsRacesByPlaceOfTheProgram) {
  MemoryTrace trace;
  Site site{"a.c:3:1", "a.c", "f", "app", 0x10, 3, 1};
  for (std::uint64_t offset : {0x10, 0x20, 0x30}) {
    site.offset = offset;
    site.line = offset == 0x30 ? 4 : 3;
    trace.tables.add_site(site);
  }
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    trace.tables.add_thread("T" + std::to_string(thread));
    for (std::uint32_t at = 0; at < 3; ++at) {
      trace.events.push_back(
          {.object = 0x1000, .thread = ThreadId{thread}, .site = SiteId{at}, .size = 4, .op = Op::kWrite});
    }
  }
  MemoryTraceReader reader(trace);
  AnalysisOptions options;
  options.detectors = *parse_detectors("hb");
  const Result<Report> report = analyze_trace(reader, options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->stats.analyses.at(0).races, 3u) << "3 with 3, 3 with 4, 4 with 4";
}

// Time and memory go with what was used, not with how long blocks are.
TEST(AnalysisTest, FourGigabytesAllocatedAndFreedCostLittle) {
  std::string text = "T0|astore(0x100000100:8)|0\n";
  for (int i = 0; i < 2000; ++i) {
    text += "T0|alloc(0x100000000:4294967295)|1\nT0|w(0x100000200:8)|2\nT0|free(0x100000000:4294967295)|3\n";
  }
  text += "T1|w(0x180000000:8)|4\n";
  const Result<Report> report = analyze(text, "hb,lockset,hybrid,wcp,syncp,cp,deadlock,misuse");
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].accesses[0].op, Op::kFree);
  EXPECT_EQ(report->findings[0].accesses[1].site.label, "4");
}

Result<Report> analyze_with_columns(std::string_view text, const std::string& with, const McmOptions& mcm = {}) {
  AnalysisOptions options;
  options.detectors = *parse_detectors(with);
  options.mcm = mcm;
  auto reader = read_std_text(text, "test", {columns_for(options.detectors)});
  return analyze_trace(**reader, options);
}

constexpr std::string_view kCall = "T0|w(0x10:4)|1\nT1|callbegin(f)|2|=0x10:4\nT1|callend(f)|3\nT1|w(0x10:4)|4\n";

TEST(AnalysisTest, CallsThatWereNotRecordedAreRefusedByWhomTheyWouldFool) {
  for (const char* with : {"hb", "wcp", "cp", "syncp", "mcm", "lockset,mcm"}) {
    const Result<Report> report = analyze_with_columns(kCall, with);
    ASSERT_FALSE(report.ok()) << with;
    EXPECT_NE(report.status().message().find("event 1 begins a call that was not recorded"), std::string::npos);
    EXPECT_NE(report.status().message().find("--with rdit"), std::string::npos) << report.status().message();
  }
  EXPECT_TRUE(analyze_with_columns(kCall, "lockset,hybrid,misuse").ok());
}

// The second thread goes the same way when it reads what the third has stored.
TEST(AnalysisTest, McmLetsAReadSeeAnotherWriteOfItsValue) {
  constexpr std::string_view kText =
      "T0|fork(T1)|1\nT0|fork(T2)|2\nT0|fork(T3)|3\nT3|w(y)|4|=%s\nT1|w(x)|5|=7\nT1|w(y)|6|=1\nT2|r(y)|7|=1\nT2|w(x)|8|"
      "=9\n";
  for (const auto& [stored, races] : {std::pair{"1", 1}, std::pair{"2", 0}, std::pair{"257", 0}}) {
    std::string text(kText);
    text.replace(text.find("%s"), 2, stored);
    const Result<Report> report = analyze_with_columns(text, "mcm");
    ASSERT_TRUE(report.ok()) << report.status().message();
    int found = 0;
    for (const Finding& finding : report->findings) {
      found += finding.accesses[0].site.label == "5" && finding.accesses[1].site.label == "8" ? 1 : 0;
      EXPECT_TRUE(finding.witness->checked);
    }
    EXPECT_EQ(found, races) << stored;
  }
}

// What cannot be decided in time is counted, and is no refutation of what others believe.
TEST(AnalysisTest, WithoutTheSolverSomePairsHaveNoAnswer) {
  constexpr std::string_view kText =
      "T0|fork(T1)|1\nT0|fork(T2)|2\nT0|fork(T3)|3\nT3|w(y)|4|=1\nT1|w(x)|5|=7\nT1|w(y)|6|=1\nT2|r(y)|7|=1\nT2|w(x)|8|="
      "9\n";
  McmOptions mcm;
  mcm.solver_timeout = std::chrono::milliseconds(0);
  const Result<Report> report = analyze_with_columns(kText, "hybrid,mcm", mcm);
  ASSERT_TRUE(report.ok());
  bool kept = false;
  for (const Finding& finding : report->findings) {
    kept = kept || (finding.accesses[1].site.label == "8" && finding.rung == Rung::kSuspected);
  }
  EXPECT_TRUE(kept);
  ASSERT_FALSE(report->notes.empty());
  EXPECT_NE(report->notes.front().find("mcm has no answer for 1 pair of sites"), std::string::npos)
      << report->notes.front();
}

// A pair that lies further apart than half a window may be missed, and the report says so.
TEST(AnalysisTest, McmTellsWhatItsWindowsKeepApart) {
  std::string text = "T0|w(x)|1\n";
  for (int i = 0; i < 40; ++i) {
    text += "T0|w(z)|2\n";
  }
  text += "T1|w(x)|3\n";
  McmOptions mcm;
  mcm.window = 10;
  const Result<Report> report = analyze_with_columns(text, "mcm", mcm);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->findings.empty());
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_NE(report->notes.front().find("windows of 10 events"), std::string::npos) << report->notes.front();
  mcm.window = 1'000;
  EXPECT_EQ(analyze_with_columns(text, "mcm", mcm)->findings.size(), 1u);
}

TEST(AnalysisTest, WhatIsCutOffSaysWhy) {
  for (const bool asked : {false, true}) {
    auto reader = read_std_text("T0|w(x)|1\nT1|w(x)|2\n", "test", {});
    AnalysisOptions options;
    options.detectors = *parse_detectors("hb");
    options.cancelled = [] { return true; };
    if (asked) {
      options.why_cancelled = [] { return "Most of the budget was spent"; };
    }
    const Result<Report> report = analyze_trace(**reader, options);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->incomplete);
    ASSERT_FALSE(report->not_covered.empty());
    EXPECT_EQ(report->not_covered.front().text, std::string(asked ? "Most of the budget was spent" : "Interrupted") +
                                                    ": only the first 2 events of the trace were analysed.");
  }
}

TEST(AnalysisTest, WhatFreeGivesBackToTheSystemIsNotUsedAfterIt) {
  const auto misuses = [](const std::string& block, const std::string& used) {
    const Result<Report> report =
        analyze("T0|alloc(" + block + ")|1\nT0|free(" + block + ")|2\nT0|r(" + used + ":4)|3\n", "misuse");
    return report.ok() ? static_cast<int>(report->findings.size()) : -1;
  };
  EXPECT_EQ(misuses("0x7f0000001020:135152", "0x7f0000002000"), 1);
  EXPECT_EQ(misuses("0x7f0000001010:135144", "0x7f0000002000"), 1);
  // A mapping of its own. Who reads there without a fault reads something that was mapped since.
  EXPECT_EQ(misuses("0x7f0000001010:135152", "0x7f0000002000"), 0);
}

// The second pair of sites lies behind what is kept; nothing but the lock orders its accesses.
TEST(AnalysisTest, WhatLiesBehindTheEventsThatAreKeptSaysHowManyTheseAre) {
  const auto open = [] {
    return read_std_text(
        "T0|fork(T1)|9\nT0|w(y)|1\nT1|w(y)|2\nT0|w(x)|3\nT0|acq(l)|4\nT0|rel(l)|5\nT1|acq(l)|6\n"
        "T1|rel(l)|7\nT1|w(x)|8\n",
        "test", {});
  };
  auto reader = open();
  AnalysisOptions options;
  options.detectors = *parse_detectors("wcp");
  options.proof.max_events = 6;
  options.read_again = open;
  const Result<Report> report = analyze_trace(**reader, options);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->findings.size(), 2u);
  const std::string why = report->findings.back().witness->why;
  EXPECT_NE(why.find("it lies behind the first 6 events that matter to several threads, in which"), std::string::npos)
      << why;
}

}  // namespace
}  // namespace sooth
