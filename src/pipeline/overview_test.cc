#include "pipeline/overview.h"

#include <gtest/gtest.h>

#include <numeric>

#include "trace/text/std_testing.h"

namespace sooth {
namespace {

RunOverview overview_of(const WholeTrace& trace, std::size_t batch_size) {
  OverviewCollector collector;
  for (std::size_t i = 0; i < trace.events.size(); i += batch_size) {
    const std::size_t size = std::min(batch_size, trace.events.size() - i);
    Batch batch;
    batch.first = EventId{i};
    batch.events = std::span(trace.events).subspan(i, size);
    collector.consume(batch);
  }
  return collector.overview(trace.tables);
}

TEST(OverviewTest, CountsThreadsKindsAndLocks) {
  const WholeTrace trace = must_read(
      "M|fork(A)|1\nA|acq(l)|2\nA|w(x)|3\nA|rel(l)|4\nM|acq(l)|5\nM|rel(l)|6\nM|acq(m)|7\nM|acq(l)|8\nM|rel(l)|9\nM|"
      "rel(m)|10\n");
  const RunOverview overview = overview_of(trace, 3);
  EXPECT_EQ(overview.slice, 1u);
  ASSERT_EQ(overview.threads.size(), 2u);
  EXPECT_EQ(overview.threads[0], (ThreadActivity{"M", 7, EventId{0}, EventId{9}, {1, 0, 0, 0, 1, 1, 1, 1, 1, 1}}));
  EXPECT_EQ(overview.threads[1], (ThreadActivity{"A", 3, EventId{1}, EventId{3}, {0, 1, 1, 1, 0, 0, 0, 0, 0, 0}}));
  EXPECT_EQ(overview.locks, (std::vector<LockUse>{{"l", 3, 1}, {"m", 1, 0}}));
  EXPECT_EQ(overview.kinds, (std::vector<std::pair<Op, std::uint64_t>>{
                                {Op::kWrite, 1}, {Op::kAcquire, 4}, {Op::kRelease, 4}, {Op::kFork, 1}}));
}

// However long the run and however it is cut into batches, the slices are as many and hold all events.
TEST(OverviewTest, SlicesGrowWithTheRun) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += i % 3 == 0 ? "A|w(x)|1\n" : "B|r(y)|2\n";
  }
  const WholeTrace trace = must_read(text);
  const RunOverview overview = overview_of(trace, 4096);
  EXPECT_EQ(overview, overview_of(trace, 7));
  EXPECT_EQ(overview.slice, 64u);
  for (const ThreadActivity& thread : overview.threads) {
    EXPECT_EQ(thread.activity.size(), 79u);
    EXPECT_EQ(std::accumulate(thread.activity.begin(), thread.activity.end(), std::uint64_t{0}), thread.events);
  }
}

TEST(OverviewTest, ManyThreadsAndLocksAreCountedOnly) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    text += "T" + n + "|acq(l" + n + ")|1\nT" + n + "|rel(l" + n + ")|1\n";
  }
  text += "T99|acq(l99)|1\nT99|rel(l99)|1\n";
  const RunOverview overview = overview_of(must_read(text), 64);
  EXPECT_EQ(overview.threads.size(), OverviewCollector::kMaxThreads);
  EXPECT_EQ(overview.more_threads, 100 - OverviewCollector::kMaxThreads);
  EXPECT_EQ(overview.threads.back().thread, "T99");
  EXPECT_EQ(overview.locks.front(), (LockUse{"l99", 2, 0}));
  EXPECT_EQ(overview.more_locks, 100 - OverviewCollector::kMaxLocks);
}

}  // namespace
}  // namespace sooth
