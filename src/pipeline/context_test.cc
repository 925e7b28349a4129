// What findings are told about memory, threads and locks.
#include "pipeline/context.h"

#include <gtest/gtest.h>

#include "pipeline/analysis.h"
#include "trace/memory_trace.h"
#include "trace/text/std_text.h"

namespace sooth {
namespace {

std::unique_ptr<TraceReader> read(std::string_view text) {
  auto reader = read_std_text(text, "test", {kStacks});
  EXPECT_TRUE(reader.ok());
  return std::move(*reader);
}

// With the trace kept for witnesses cut to `kept` events, and opened again if need be.
Report analyze_with(std::string_view text, const std::string& with, std::uint64_t kept = 1000,
                    bool readable_twice = true) {
  AnalysisOptions options;
  options.detectors = *parse_detectors(with);
  options.proof.max_events = kept;
  if (readable_twice) {
    options.reopen = [text] { return read_std_text(text, "test", {kStacks}); };
  }
  Result<Report> report = analyze_trace(*read(text), options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return *report;
}

// The one finding of the trace, which must be told the same however it is read.
Finding only_finding(std::string_view text, const std::string& with = "hb") {
  const Report report = analyze_with(text, with);
  EXPECT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(analyze_with(text, with, 0).findings.at(0).context, report.findings.at(0).context) << "read twice";
  EXPECT_EQ(analyze_with(text, with, 1000, false).findings.at(0).context, report.findings.at(0).context) << "read once";
  return report.findings.at(0);
}

constexpr std::string_view kHeap =
    "T0|enter(main)|a.c:1\n"
    "T0|alloc(0x1000:64)|a.c:2\n"
    "T0|acq(m)|a.c:3\n"
    "T0|rel(m)|a.c:4\n"
    "T0|fork(T1)|a.c:5\n"
    "T1|acq(m)|a.c:6\n"
    "T1|w(0x1010:8)|a.c:7\n"
    "T1|rel(m)|a.c:8\n"
    "T0|alloc(0x2000:64)|a.c:9\n"
    "T0|r(0x1014:1)|a.c:10\n";

TEST(ContextTest, TellsTheHeapBlockTheForkAndTheFirstAcquire) {
  const FindingContext context = only_finding(kHeap).context;
  ASSERT_TRUE(context.memory.has_value());
  EXPECT_EQ(context.memory->kind, MemoryKind::kHeap);
  EXPECT_EQ(context.memory->address, 0x1000u);
  EXPECT_EQ(context.memory->size, 64u);
  EXPECT_EQ(context.memory->offset, 0x14u) << "of the first byte that both touch";
  ASSERT_TRUE(context.memory->allocated.has_value());
  EXPECT_EQ(context.memory->allocated->site.label, "a.c:2");
  EXPECT_EQ(context.memory->allocated->thread, "T0");
  ASSERT_EQ(context.memory->allocated->stack.size(), 1u);
  EXPECT_EQ(context.memory->allocated->stack[0].label, "a.c:1");
  ASSERT_EQ(context.threads.size(), 1u) << "nobody created T0";
  EXPECT_EQ(context.threads[0].thread, "T1");
  EXPECT_EQ(context.threads[0].created.thread, "T0");
  EXPECT_EQ(raw(context.threads[0].created.event), 4u);
  ASSERT_EQ(context.locks.size(), 1u);
  EXPECT_EQ(context.locks[0].lock, "m");
  EXPECT_EQ(context.locks[0].first_acquired.site.label, "a.c:3") << "not by the thread that holds it";
}

// A trace that comes by once, and is longer than what is kept of it.
TEST(ContextTest, TellsWhoCreatedThreadsWithoutReadingTwice) {
  const FindingContext context = analyze_with(kHeap, "hb", 3, false).findings.at(0).context;
  ASSERT_EQ(context.threads.size(), 1u);
  EXPECT_EQ(context.threads[0].created.site.label, "a.c:5");
  EXPECT_FALSE(context.memory.has_value());

  const std::string shared_name = "# sooth: thread T2 T1\nT0|fork(T2)|a.c:11\n" + std::string(kHeap);
  EXPECT_TRUE(analyze_with(shared_name, "hb", 3, false).findings.at(0).context.empty()) << "which T1?";
}

TEST(ContextTest, TheLatestBlockBeforeTheAccessCounts) {
  const FindingContext context = only_finding(
                                     "T0|alloc(0x1000:64)|1\nT0|free(0x1000:64)|2\nT0|alloc(0x1000:32)|3\n"
                                     "T1|w(0x1008:4)|4\nT0|r(0x1008:4)|5\nT0|alloc(0x1000:16)|6\n")
                                     .context;
  EXPECT_EQ(context.memory->size, 32u);
  EXPECT_EQ(context.memory->allocated->site.label, "3");
}

TEST(ContextTest, ABlockRightBehindTheBeginOfAThreadIsItsStack) {
  constexpr std::string_view kStack =
      "T0|fork(T1)|1\nT1|begin()|2\nT0|acq(m)|2\nT1|alloc(0x10000:65536)|2\nT1|w(0x10008:4)|3\nT0|r(0x10008:4)|4\n";
  const MemoryContext memory = *only_finding(kStack).context.memory;
  EXPECT_EQ(memory.kind, MemoryKind::kStack);
  EXPECT_EQ(memory.thread, "T1");
  EXPECT_EQ(memory.offset, 8u);
  EXPECT_FALSE(memory.allocated.has_value());

  EXPECT_EQ(only_finding("T1|begin()|2\nT1|r(y)|2\nT1|alloc(0x10000:65536)|2\nT1|w(0x10008:4)|3\nT0|r(0x10008:4)|4\n")
                .context.memory->kind,
            MemoryKind::kHeap)
      << "not right behind it";
  EXPECT_EQ(
      only_finding("T1|begin()|2\nT1|alloc(0x10000:64)|2\nT1|w(0x10008:4)|3\nT0|r(0x10008:4)|4\n").context.memory->kind,
      MemoryKind::kHeap)
      << "too short";
}

TEST(ContextTest, NamedMemoryThatNobodyAllocatedIsGlobal) {
  const MemoryContext memory =
      *only_finding("# sooth: name variable 0x404040:4 counter\nT0|w(counter)|1\nT1|r(0x404042:1)|2\n").context.memory;
  EXPECT_EQ(memory.kind, MemoryKind::kGlobal);
  EXPECT_EQ(memory.name, "counter");
  EXPECT_EQ(memory.address, 0x404040u);
  EXPECT_EQ(memory.offset, 2u);
  EXPECT_FALSE(only_finding("T0|w(x)|1\nT1|r(x)|2\n").context.memory.has_value()) << "a name says nothing about bytes";
}

// Recorded programs name their globals as ranges, and their locks lie in them.
TEST(ContextTest, RangesOfMemoryNameGlobalsAndLocks) {
  MemoryTrace trace;
  trace.tables.add_thread("T0");
  trace.tables.add_thread("T1");
  trace.tables.add_site({"1", "", "", "", 0, 0, 0});
  trace.tables.name_range(ObjectKind::kMemory, 0x4000, 64, "queue");
  const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size) {
    trace.events.push_back({object, ThreadId{thread}, SiteId{0}, size, op, MemoryOrder::kNotAtomic, 0, 0});
  };
  add(0, Op::kAlloc, 0x4000, 16);  // whatever it is
  add(0, Op::kAcquire, 0x4028, 0);
  add(0, Op::kWrite, 0x4008, 8);
  add(1, Op::kRead, 0x4008, 8);
  MemoryTraceReader reader(trace);
  AnalysisOptions options;
  options.detectors = *parse_detectors("hb");
  const Result<Report> report = analyze_trace(reader, options);
  ASSERT_TRUE(report.ok());
  const Finding& finding = report->findings.at(0);
  EXPECT_EQ(finding.accesses[0].variable, "queue+8");
  EXPECT_EQ(finding.accesses[0].locks, std::vector<std::string>{"queue+40"});
  ASSERT_TRUE(finding.context.memory.has_value());
  EXPECT_EQ(finding.context.memory->kind, MemoryKind::kGlobal);
  EXPECT_EQ(finding.context.memory->name, "queue");
  EXPECT_EQ(finding.context.memory->size, 64u);
  EXPECT_EQ(finding.context.memory->offset, 8u);
  EXPECT_EQ(finding.context.locks.at(0).lock, "queue+40");
}

TEST(ContextTest, ExplainsTheLocksOfDeadlocksAndMisuses) {
  const Finding deadlock = only_finding(
      "T0|acq(l)|1\nT0|acq(m)|2\nT0|rel(m)|3\nT0|rel(l)|4\nT1|acq(m)|5\nT1|acq(l)|6\nT1|rel(l)|7\nT1|rel(m)|8\n",
      "deadlock");
  ASSERT_EQ(deadlock.context.locks.size(), 2u);
  EXPECT_EQ(deadlock.context.locks[0].lock, "l");
  EXPECT_EQ(deadlock.context.locks[1].first_acquired.site.label, "2");

  const Finding misuse = only_finding("T0|acq(m)|1\nT0|rel(m)|2\nT0|misuse.unlock_unlocked(m)|3\n", "misuse");
  EXPECT_EQ(misuse.kind, FindingKind::kMisuse);
  ASSERT_EQ(misuse.context.locks.size(), 1u);
  EXPECT_EQ(misuse.context.locks[0].first_acquired.site.label, "1");
}

// Between the two readings somebody may have put another trace there.
TEST(ContextTest, AnotherTraceExplainsNothing) {
  std::vector<Finding> findings = analyze_with(kHeap, "hb").findings;
  findings[0].context = {};
  std::string other = "T0|fork(T1)|1\n";
  for (int i = 0; i < 20; ++i) {
    other += "T1|w(0x3000:8)|2\n";
  }
  ASSERT_TRUE(add_context(findings, *read(other)).ok());
  EXPECT_TRUE(findings[0].context.empty());
  EXPECT_FALSE(add_context(findings, *read("T0|fork(T1)|1\nnonsense\n")).ok());
  ASSERT_TRUE(add_context(findings, *read("T0|r(x)|1\n")).ok());
  EXPECT_TRUE(findings[0].context.empty());
}

TEST(ContextTest, ATraceThatCannotBeReadAgainIsNoted) {
  AnalysisOptions options;
  options.detectors = *parse_detectors("hb");
  options.proof.max_events = 0;
  options.reopen = []() -> Result<std::unique_ptr<TraceReader>> { return Status::bad_input("gone"); };
  const Result<Report> report = analyze_trace(*read(kHeap), options);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_TRUE(report->notes[0].ends_with("could not be read again: gone"));
}

}  // namespace
}  // namespace sooth
