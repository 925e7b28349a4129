#include "trace/tools/census.h"

#include <gtest/gtest.h>

#include "trace/memory_trace.h"
#include "trace/tools/generate.h"

namespace sooth {
namespace {

TEST(CensusTest, CountsObjectsOnceAndEventsByKind) {
  MemoryTrace trace;
  const auto add = [&](Op op, std::uint64_t object, std::uint32_t thread = 0, std::uint32_t site = 0) {
    trace.events.push_back({object, ThreadId{thread}, SiteId{site}, 0, op, MemoryOrder::kNotAtomic, 0, 0});
  };
  add(Op::kAcquire, 7);
  add(Op::kRead, 100, 0, 1);
  add(Op::kWrite, 100, 0, 2);
  add(Op::kAtomicLoad, 108, 1, 2);
  add(Op::kAlloc, 4096);
  add(Op::kFree, 4096);
  add(Op::kRelease, 7);
  add(Op::kAcquire, 8);
  add(Op::kNotify, 7);
  trace.branches.push_back({EventId{3}, ThreadId{0}, SiteId{0}, 1});
  TraceCensus census;
  census.consume(trace.batch());
  EXPECT_EQ(census.events(), 9u);
  EXPECT_EQ(census.branches(), 1u);
  EXPECT_EQ(census.events_of(Op::kAcquire), 2u);
  EXPECT_EQ(census.events_of(Op::kFence), 0u);
  EXPECT_EQ(census.locks(), 2u);
  EXPECT_EQ(census.variables(), 2u) << "blocks are no variables";
  EXPECT_EQ(census.objects(ObjectKind::kSignal), 1u) << "a signal is not the lock of the same number";
  EXPECT_EQ(census.active_threads(), 2u);
  EXPECT_EQ(census.active_sites(), 3u);
}

TEST(CensusTest, FindsWhatTheGeneratorWasAskedFor) {
  GenerateOptions options;
  options.events = 200'000;
  MemoryTraceWriter writer;
  ASSERT_TRUE(generate_trace(options, writer).ok());
  MemoryTraceReader reader(writer.trace());
  TraceCensus census;
  for (Result<Batch> batch = reader.next(); !batch->empty(); batch = reader.next()) {
    census.consume(*batch);
  }
  EXPECT_EQ(census.events(), options.events);
  EXPECT_EQ(census.active_threads(), options.threads);
  EXPECT_EQ(census.locks(), options.locks);
  EXPECT_EQ(census.variables(), options.variables);
  EXPECT_LE(census.active_sites(), options.sites);
}

}  // namespace
}  // namespace sooth
