#include "trace/batch_outline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sooth {
namespace {

// Threads change now and then, and some events are no plain accesses; by a fixed sequence of numbers.
std::vector<Event> mixed_events(std::size_t count, std::uint64_t seed) {
  std::vector<Event> events(count);
  std::uint64_t state = seed;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  std::uint32_t thread = 0;
  for (Event& e : events) {
    thread = next(20) == 0 ? static_cast<std::uint32_t>(next(3)) : thread;
    e.thread = ThreadId{thread};
    e.op = next(25) == 0 ? Op::kAcquire : next(2) == 0 ? Op::kRead : Op::kWrite;
  }
  return events;
}

TEST(BatchOutline, SaysWhatALookAtEachEventSays) {
  BatchOutline outline;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<Event> events = mixed_events(seed % 90, seed);
    Batch batch;
    batch.events = events;
    outline.read(batch);
    std::vector<std::uint32_t> others;
    std::uint64_t reads = 0;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      reads += events[i].op == Op::kRead ? 1 : 0;
      if (events[i].op > Op::kWrite) {
        others.push_back(i);
      }
    }
    EXPECT_EQ(std::vector<std::uint32_t>(outline.others().begin(), outline.others().end()), others);
    EXPECT_EQ(outline.reads(), reads);
    EXPECT_EQ(outline.writes(), events.size() - reads - others.size());
    std::uint32_t at = 0;
    for (const BatchOutline::Run& run : outline.runs()) {
      EXPECT_EQ(run.first, at);
      EXPECT_TRUE(at == 0 || events[at - 1].thread != run.thread);
      for (; at < run.end; ++at) {
        EXPECT_EQ(events[at].thread, run.thread);
      }
    }
    EXPECT_EQ(at, events.size());
  }
}

TEST(BatchOutline, VisitsAllWhereThatIsWanted) {
  std::vector<Event> events(12);
  events[3].op = Op::kAcquire;
  events[4].op = Op::kRelease;
  events[9].op = Op::kAcquire;
  Batch batch;
  batch.events = events;
  std::vector<std::size_t> visited;
  BatchOutline(batch).visit(
      batch, [&] { return !visited.empty() && visited.back() >= 3 && visited.back() < 6; },
      [&](std::size_t i) { visited.push_back(i); });
  EXPECT_EQ(visited, (std::vector<std::size_t>{3, 4, 5, 6, 9}));
}

}  // namespace
}  // namespace sooth
