#include "trace/tools/drop.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/check/validator.h"
#include "trace/memory_trace.h"
#include "trace/text/std_syntax.h"
#include "trace/tools/copy.h"
#include "trace/tools/generate.h"

namespace sooth {
namespace {

// Sites by number.
enum : std::uint32_t { kMain, kLog, kLogHelper, kText };

MemoryTrace empty_trace() {
  MemoryTrace trace;
  trace.info.columns = kAllColumns;
  trace.tables.add_thread("T0");
  trace.tables.add_thread("T1");
  trace.tables.add_site({"main.c:1:2", "main.c", "main", "", 0, 1, 2});
  trace.tables.add_site({"log.c:10:2", "log.c", "log_line", "", 0, 10, 2});
  trace.tables.add_site({"log.c:20:2", "log.c", "flush", "", 0, 20, 2});
  trace.tables.add_site({"345", "", "", "", 0, 0, 0});
  return trace;
}

struct Row {
  Op op;
  std::uint64_t object;
  std::uint32_t site;
  bool kept;
  std::uint32_t thread = 0;
};

MemoryTrace trace_of(const std::vector<Row>& rows) {
  MemoryTrace trace = empty_trace();
  for (const Row& row : rows) {
    const bool sized = object_kind(row.op) == ObjectKind::kMemory;
    trace.events.push_back({row.object, ThreadId{row.thread}, SiteId{row.site}, sized ? 8u : 0u, row.op,
                            is_atomic(row.op) ? MemoryOrder::kSeqCst : MemoryOrder::kNotAtomic, 0, 0});
  }
  return trace;
}

// Drops in batches of `batch_events`.
MemoryTrace dropped(const MemoryTrace& trace, const DropOptions& options, DropCounts* counts = nullptr,
                    std::size_t batch_events = 2) {
  MemoryTraceReader reader(trace, batch_events);
  MemoryTraceWriter writer(trace.info);
  EventDropper dropper(options);
  const Status status = copy_trace(reader, writer, [&](const Batch& batch, const Tables& tables) -> Result<CopyStep> {
    return CopyStep{dropper.filter(batch, tables), false};
  });
  EXPECT_TRUE(status.ok()) << status.message();
  if (counts != nullptr) {
    *counts = dropper.counts();
  }
  return writer.trace();
}

void expect_kept(const std::vector<Row>& rows, const DropOptions& options) {
  const MemoryTrace trace = trace_of(rows);
  ASSERT_EQ(TraceValidator().consume(trace.batch(), trace.tables).message(), "") << "a bad test";
  std::vector<Event> expected;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kept) {
      expected.push_back(trace.events[i]);
    }
  }
  DropCounts counts;
  const MemoryTrace rest = dropped(trace, options, &counts);
  EXPECT_EQ(rest.events, expected);
  EXPECT_EQ(counts.read, rows.size());
  EXPECT_EQ(counts.dropped(), rows.size() - expected.size());
  EXPECT_EQ(TraceValidator().consume(rest.batch(), rest.tables).message(), "");
}

KindSet kind(std::string_view word) { return *parse_kind(word); }

TEST(DropTest, NothingWithoutOptions) { expect_kept({{Op::kRead, 8, kMain, true}, {Op::kWrite, 8, kLog, true}}, {}); }

TEST(DropTest, FunctionsMatchAtTheSite) {
  expect_kept({{Op::kRead, 8, kMain, true},
               {Op::kRead, 8, kLog, false},
               {Op::kRead, 8, kLogHelper, true},
               {Op::kRead, 8, kText, true}},
              {{"log_*"}, {}, 0});
  expect_kept({{Op::kRead, 8, kText, true}}, {{"*"}, {}, 0});  // its function is not known
}

TEST(DropTest, FunctionsMatchBetweenEnterAndExit) {
  expect_kept({{Op::kEnter, kLog, kMain, false},
               {Op::kRead, 8, kLogHelper, false},
               {Op::kRead, 8, kMain, true, 1},
               {Op::kEnter, kLog, kLog, false},
               {Op::kExit, kLog, kLog, false},
               {Op::kRead, 8, kText, false},
               {Op::kExit, kLog, kMain, false},
               {Op::kRead, 8, kText, true}},
              {{"log_line"}, {}, 0});
}

TEST(DropTest, FunctionsMatchOnTheStack) {
  MemoryTrace trace = trace_of({{Op::kRead, 8, kLogHelper, true}, {Op::kRead, 8, kLogHelper, true}});
  const StackId in_main = trace.tables.intern_stack(kNoStack, SiteId{kMain});
  const StackId in_log = trace.tables.intern_stack(in_main, SiteId{kLog});
  trace.stacks = {trace.tables.intern_stack(in_log, SiteId{kText}), in_main};
  const MemoryTrace rest = dropped(trace, {{"log_line"}, {}, 0});
  ASSERT_EQ(rest.events.size(), 1u);
  EXPECT_EQ(rest.stacks, std::vector<StackId>{in_main});
}

TEST(DropTest, SitesMatchByLabelFileOrLine) {
  const auto rows = [](bool log, bool helper, bool text) {
    return std::vector<Row>{{Op::kRead, 8, kMain, true},
                            {Op::kRead, 8, kLog, log},
                            {Op::kRead, 8, kLogHelper, helper},
                            {Op::kRead, 8, kText, text}};
  };
  expect_kept(rows(false, false, true), {{}, {"log.c"}, 0});
  expect_kept(rows(true, false, true), {{}, {"log.c:20"}, 0});
  expect_kept(rows(false, true, false), {{}, {"log.c:10:?", "345"}, 0});
}

TEST(DropTest, ClosingSharesTheFateOfOpening) {
  expect_kept({{Op::kAcquire, 1, kLog, false},
               {Op::kRead, 8, kMain, true},
               {Op::kRelease, 1, kMain, false},
               {Op::kAcquire, 1, kMain, true},
               {Op::kAcquire, 1, kLog, false},
               {Op::kRelease, 1, kMain, false},
               {Op::kRelease, 1, kLog, true},
               {Op::kCallBegin, 1, kLog, false},
               {Op::kCallEnd, 1, kMain, false},
               {Op::kAcquire, 1, kMain, true, 1}},
              {{}, {"log.c"}, 0});
}

TEST(DropTest, ThreadsStayOrderedUnlessAskedByKind) {
  const auto rows = [](bool kept) {
    return std::vector<Row>{{Op::kFork, 1, kLog, kept},
                            {Op::kBegin, 0, kLog, kept, 1},
                            {Op::kEnd, 0, kLog, kept, 1},
                            {Op::kJoin, 1, kLog, kept}};
  };
  expect_kept(rows(true), {{"*"}, {"*"}, 0});
  expect_kept(rows(false), {{}, {}, kind("thread")});
}

TEST(DropTest, KindsComeInPairs) {
  const KindSet locks =
      KindSet{1} << raw(Op::kAcquire) | KindSet{1} << raw(Op::kAcquireFailed) | KindSet{1} << raw(Op::kRelease);
  for (const char* word : {"acq", "rel", "racq", "rrel", "acquire", "release", "lock"}) {
    EXPECT_EQ(kind(word), locks) << word;
  }
  EXPECT_EQ(kind("enter"), kind("exit"));
  EXPECT_EQ(kind("call-begin"), kind("callend"));
  EXPECT_EQ(kind("w"), KindSet{1} << raw(Op::kWrite));
  EXPECT_EQ(kind("atomic-load"), kind("aload"));
  for (const StdOp& row : std_ops()) {
    EXPECT_NE(kind(row.name) & KindSet{1} << raw(row.op), 0u) << row.name;
  }
  EXPECT_EQ(kind("access"), kind("plain") | kind("aload") | kind("astore") | kind("armw"));
  expect_kept({{Op::kAcquire, 1, kMain, false}, {Op::kRead, 8, kMain, true}, {Op::kRelease, 1, kMain, false}},
              {{}, {}, kind("acq")});
}

TEST(DropTest, UnknownKindsAreExplained) {
  const Result<KindSet> result = parse_kind("writes");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), ExitCode::kUsage);
  EXPECT_EQ(result.status().message().find("there is no kind of event \"writes\"; kinds are read, write, atomic-load"),
            0u);
  EXPECT_TRUE(result.status().message().ends_with("function, call, and the words of STD text"))
      << result.status().message();
}

TEST(DropTest, ReasonsAreCounted) {
  DropCounts counts;
  dropped(trace_of({{Op::kAcquire, 1, kLogHelper, false},
                    {Op::kRead, 8, kLog, false},
                    {Op::kWrite, 8, kMain, false},
                    {Op::kRelease, 1, kMain, false},
                    {Op::kRead, 8, kMain, true}}),
          {{"log_line"}, {"log.c"}, kind("w")}, &counts);
  EXPECT_EQ(counts.by_function, 1u);
  EXPECT_EQ(counts.by_site, 1u);
  EXPECT_EQ(counts.by_kind, 1u);
  EXPECT_EQ(counts.by_partner, 1u);
}

TEST(DropTest, ColumnsAreRenumbered) {
  MemoryTrace trace = trace_of({{Op::kRead, 8, kLog, false},
                                {Op::kCallBegin, 1, kMain, true},
                                {Op::kRead, 8, kLog, false},
                                {Op::kCallBegin, 2, kLog, false},
                                {Op::kCallBegin, 3, kMain, true}});
  for (std::uint64_t i = 0; i < 5; ++i) {
    trace.values.push_back(i == 0 || i == 2 ? Value{i, 0, 8} : Value{});
  }
  trace.reaches = {{EventId{1}, 100, 8}, {EventId{3}, 200, 8}, {EventId{4}, 300, 8}, {EventId{4}, 400, 8}};
  for (std::uint64_t before = 0; before <= 5; ++before) {
    trace.branches.push_back({EventId{before}, ThreadId{0}, SiteId{kMain}, before});
  }
  trace.branches.push_back({EventId{5}, ThreadId{0}, SiteId{kLog}, 9});
  for (std::size_t batch_events = 1; batch_events <= 6; ++batch_events) {
    DropCounts counts;
    const MemoryTrace rest = dropped(trace, {{}, {"log.c"}, 0}, &counts, batch_events);
    EXPECT_EQ(rest.values, std::vector<Value>(2));
    EXPECT_EQ(rest.reaches, (std::vector<Reach>{{EventId{0}, 100, 8}, {EventId{1}, 300, 8}, {EventId{1}, 400, 8}}));
    ASSERT_EQ(rest.branches.size(), 6u);
    const std::uint64_t expected[] = {0, 0, 1, 1, 1, 2};
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(raw(rest.branches[i].before), expected[i]);
      EXPECT_EQ(rest.branches[i].outcome, i);
    }
    EXPECT_EQ(counts.branches, 1u);
    EXPECT_TRUE(dropped(trace, {{}, {}, kind("branch")}, nullptr, batch_events).branches.empty());
  }
}

TEST(DropTest, WellFormedTracesStayWellFormed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    GenerateOptions options;
    options.events = 2'000;
    options.nesting = 3;
    options.sites = 40;
    options.seed = seed;
    MemoryTraceWriter writer;
    ASSERT_TRUE(generate_trace(options, writer).ok());
    const std::string line = "gen.c:*" + std::to_string(seed % 10);
    const MemoryTrace rest = dropped(writer.trace(), {{"work1"}, {line}, 0}, nullptr, 64);
    EXPECT_LT(rest.events.size(), 2'000u);
    EXPECT_EQ(TraceValidator().consume(rest.batch(), rest.tables).message(), "");
  }
}

}  // namespace
}  // namespace sooth
