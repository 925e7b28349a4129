#include "pipeline/analysis.h"

#include <gtest/gtest.h>

#include "trace/memory_trace.h"
#include "trace/std_text.h"

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
      "T0|acq(m)|1\nT0|misuse.double_lock(m)|2\nT0|misuse.double_lock(m)|2\nT0|fork(T1)|3\nT0|misuse.thread_leak(T1)|4\n",
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
      trace.events.push_back({.object = 0x1000, .thread = ThreadId{thread}, .site = SiteId{at}, .size = 4, .op = Op::kWrite});
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

}  // namespace
}  // namespace sooth
