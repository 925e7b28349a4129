#include "trace/memory_trace.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

MemoryTrace example() {
  MemoryTrace trace;
  trace.info.columns = kAllColumns;
  const ThreadId thread = trace.tables.add_thread("T0");
  const SiteId site = trace.tables.add_site({"1", "", "", "", 0, 0, 0});
  for (std::uint64_t i = 0; i < 10; ++i) {
    trace.events.push_back({i, thread, site, 0, Op::kCallBegin, MemoryOrder::kNotAtomic, 0, 0});
    trace.values.push_back({});
    trace.stacks.push_back(kNoStack);
    trace.reaches.push_back({EventId{i}, 100 * i, 8});
  }
  for (const std::uint64_t before : {0, 3, 4, 4, 10}) {
    trace.branches.push_back({EventId{before}, thread, site, 1});
  }
  return trace;
}

TEST(MemoryTraceTest, ReaderAndWriterAreInverses) {
  const MemoryTrace trace = example();
  for (std::size_t batch_events = 1; batch_events <= 11; ++batch_events) {
    MemoryTraceReader reader(trace, batch_events);
    MemoryTraceWriter writer(trace.info);
    for (Result<Batch> batch = reader.next(); !batch->empty(); batch = reader.next()) {
      ASSERT_TRUE(writer.append(*batch).ok());
    }
    ASSERT_TRUE(writer.finish().ok());
    EXPECT_TRUE(writer.finished());
    EXPECT_EQ(writer.trace().info.events, 10u);
    EXPECT_EQ(writer.trace().events, trace.events);
    EXPECT_EQ(writer.trace().values, trace.values);
    EXPECT_EQ(writer.trace().stacks, trace.stacks);
    EXPECT_EQ(writer.trace().branches, trace.branches);
    EXPECT_EQ(writer.trace().reaches, trace.reaches);
  }
}

TEST(MemoryTraceTest, ReaderLeavesOutWhatNobodyAskedFor) {
  const MemoryTrace trace = example();
  MemoryTraceReader reader(trace, 100, {.columns = kStacks});
  const Result<Batch> batch = reader.next();
  EXPECT_EQ(batch->stacks.size(), 10u);
  EXPECT_TRUE(batch->values.empty());
  EXPECT_TRUE(batch->branches.empty());
  EXPECT_TRUE(batch->reaches.empty());
}

TEST(MemoryTraceTest, WriterRefusesWhatBreaksItsContract) {
  const MemoryTrace trace = example();
  MemoryTraceWriter without_columns;
  EXPECT_FALSE(without_columns.append(trace.batch()).ok());
  MemoryTraceWriter writer(trace.info);
  ASSERT_TRUE(writer.append(trace.batch()).ok());
  EXPECT_FALSE(writer.append(trace.batch()).ok()) << "starts at 0 again";
  ASSERT_TRUE(writer.finish().ok());
  Batch nothing;
  nothing.first = EventId{10};
  EXPECT_FALSE(writer.append(nothing).ok());
}

}  // namespace
}  // namespace sooth
