// Each rule of docs/semantics.md section 3, with sets of event numbers in place of clocks.
#include "order/must_order.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace sooth {
namespace {

// The events that are known: what a clock stands for.
struct Known {
  std::set<std::size_t> events;
  void join(const Known& other) { events.insert(other.events.begin(), other.events.end()); }
  bool empty() const { return events.empty(); }
  void clear() { events.clear(); }
};

// Records, for every event, the events of other threads that it is ordered after.
class RecordingHost {
 public:
  const Known& current(ThreadId thread) { return known_[raw(thread)]; }
  void sent(ThreadId) {}
  void receive(ThreadId thread, const Known& message) { known_[raw(thread)].join(message); }

  // For each event, those before it.
  std::vector<std::set<std::size_t>> run(const std::vector<Event>& trace) {
    MustOrder<RecordingHost, Known> order(*this);
    std::vector<std::set<std::size_t>> before;
    for (const Event& e : trace) {
      order.incoming(e);
      Known& mine = known_[raw(e.thread)];
      before.push_back(mine.events);
      mine.events.insert(before.size() - 1);
      order.outgoing(e);
    }
    return before;
  }

 private:
  Known known_[4];
};

Event ev(std::uint32_t thread, Op op, std::uint64_t object, MemoryOrder order = MemoryOrder::kNotAtomic,
         std::uint32_t size = 0) {
  Event e;
  e.thread = ThreadId{thread};
  e.op = op;
  e.object = object;
  e.order = order;
  e.size = size;
  return e;
}

constexpr auto kRlx = MemoryOrder::kRelaxed, kAcq = MemoryOrder::kAcquire, kRel = MemoryOrder::kRelease;
using Edge = std::pair<std::size_t, std::size_t>;

struct Case {
  const char* name;
  std::vector<Event> trace;
  std::vector<Edge> edges;     // ordered
  std::vector<Edge> no_edges;  // not ordered
};

void check(const Case& c) {
  const auto before = RecordingHost().run(c.trace);
  for (const auto& [from, to] : c.edges) {
    EXPECT_TRUE(before[to].contains(from)) << c.name << ": " << from << " -> " << to;
  }
  for (const auto& [from, to] : c.no_edges) {
    EXPECT_FALSE(before[to].contains(from)) << c.name << ": " << from << " -/> " << to;
  }
}

TEST(MustOrderTest, ForkJoinSignalsAndMessages) {
  const Case table[] = {
      {"fork",
       {ev(0, Op::kRead, 8), ev(0, Op::kFork, 1), ev(0, Op::kRead, 8), ev(1, Op::kRead, 8)},
       {{0, 3}, {1, 3}},
       {{2, 3}}},
      {"join", {ev(1, Op::kRead, 8), ev(0, Op::kJoin, 1), ev(1, Op::kRead, 8)}, {{0, 1}}, {{1, 2}}},
      {"join without events", {ev(0, Op::kFork, 2), ev(1, Op::kJoin, 2)}, {{0, 1}}, {}},
      {"latest notify", {ev(0, Op::kNotify, 5), ev(1, Op::kNotify, 5), ev(2, Op::kWait, 5)}, {{1, 2}}, {{0, 2}}},
      {"other signal", {ev(0, Op::kNotify, 5), ev(2, Op::kWait, 6)}, {}, {{0, 1}}},
      {"conditions order nothing", {ev(0, Op::kCondNotify, 5), ev(2, Op::kCondWait, 5)}, {}, {{0, 1}}},
      {"all messages",
       {ev(0, Op::kHappensBefore, 5), ev(1, Op::kHappensBefore, 5), ev(2, Op::kHappensAfter, 5)},
       {{0, 2}, {1, 2}},
       {}},
      {"message too late",
       {ev(2, Op::kHappensAfter, 5), ev(0, Op::kHappensBefore, 5), ev(2, Op::kRead, 8)},
       {},
       {{1, 2}}},
      {"locks are not must-order", {ev(0, Op::kRelease, 5), ev(1, Op::kAcquire, 5)}, {}, {{0, 1}}},
  };
  for (const Case& c : table) {
    check(c);
  }
}

TEST(MustOrderTest, SemaphorePostsAreTakenInOrder) {
  check({"fifo",
         {ev(0, Op::kSemPost, 5), ev(1, Op::kSemPost, 5), ev(2, Op::kSemWait, 5), ev(3, Op::kSemWait, 5)},
         {{0, 2}, {1, 3}},
         {{1, 2}, {0, 3}}});
  check({"initial value", {ev(2, Op::kSemWait, 5), ev(0, Op::kSemPost, 5), ev(2, Op::kRead, 8)}, {}, {{1, 2}}});
}

TEST(MustOrderTest, BarrierRounds) {
  const Op in = Op::kBarrierArrive;
  const Op out = Op::kBarrierLeave;
  check({"one round", {ev(0, in, 5), ev(1, in, 5), ev(0, out, 5), ev(1, out, 5)}, {{0, 3}, {1, 2}}, {}});
  check({"the next round opens before the last leave",
         {ev(0, in, 5), ev(1, in, 5), ev(0, out, 5), ev(0, in, 5), ev(1, out, 5), ev(1, in, 5), ev(0, out, 5)},
         {{1, 2}, {0, 4}, {5, 6}},
         {{3, 4}}});
  check({"latch: a leave without an arrival", {ev(0, in, 5), ev(1, in, 5), ev(2, out, 5)}, {{0, 2}, {1, 2}}, {}});
  check({"nobody arrived", {ev(0, out, 5), ev(1, in, 5), ev(0, Op::kRead, 8)}, {}, {{1, 2}}});
  check({"other barrier", {ev(0, in, 5), ev(1, in, 6), ev(1, out, 6)}, {}, {{0, 2}}});
}

TEST(MustOrderTest, ABarrierForEver) {
  std::vector<Event> trace;
  for (int round = 0; round < 200; ++round) {
    for (const Op op : {Op::kBarrierArrive, Op::kBarrierLeave}) {
      trace.push_back(ev(0, op, 5));
      trace.push_back(ev(1, op, 5));
    }
  }
  const auto before = RecordingHost().run(trace);
  for (std::size_t i = 0; i < trace.size(); i += 4) {
    EXPECT_TRUE(before[i + 2].contains(i + 1));
    EXPECT_TRUE(before[i + 3].contains(i));
    EXPECT_FALSE(before[i + 1].contains(i)) << "arrivals of a round are not ordered";
  }
}

TEST(MustOrderTest, AtomicsAndFences) {
  const Op load = Op::kAtomicLoad;
  const Op store = Op::kAtomicStore;
  const Op rmw = Op::kAtomicRmw;
  const Op fence = Op::kFence;
  const Case table[] = {
      {"release acquire", {ev(0, store, 8, kRel), ev(1, load, 8, kAcq)}, {{0, 1}}, {}},
      {"relaxed store", {ev(0, store, 8, kRlx), ev(1, load, 8, kAcq)}, {}, {{0, 1}}},
      {"relaxed load", {ev(0, store, 8, kRel), ev(1, load, 8, kRlx)}, {}, {{0, 1}}},
      {"other address", {ev(0, store, 8, kRel), ev(1, load, 9, kAcq)}, {}, {{0, 1}}},
      {"a later store hides it",
       {ev(0, store, 8, kRel), ev(2, store, 8, kRlx), ev(1, load, 8, kAcq)},
       {},
       {{0, 2}, {1, 2}}},
      {"an rmw continues it", {ev(0, store, 8, kRel), ev(2, rmw, 8, kRlx), ev(1, load, 8, kAcq)}, {{0, 2}}, {{1, 2}}},
      {"an rmw heads another",
       {ev(0, store, 8, kRel), ev(2, rmw, 8, kRel), ev(1, load, 8, kAcq)},
       {{0, 2}, {1, 2}},
       {{0, 1}}},
      {"acquire fence", {ev(0, store, 8, kRel), ev(1, load, 8, kRlx), ev(1, fence, 0, kAcq)}, {{0, 2}}, {}},
      {"release fence", {ev(0, fence, 0, kRel), ev(0, store, 8, kRlx), ev(1, load, 8, kAcq)}, {{0, 2}}, {{1, 2}}},
      {"both fences",
       {ev(0, fence, 0, kRel), ev(0, store, 8, kRlx), ev(1, load, 8, kRlx), ev(1, fence, 0, kAcq)},
       {{0, 3}},
       {{1, 3}, {0, 2}}},
      {"a fence of the wrong kind", {ev(0, fence, 0, kAcq), ev(0, store, 8, kRlx), ev(1, load, 8, kAcq)}, {}, {{0, 2}}},
      {"alloc ends release sequences",
       {ev(0, store, 8, kRel), ev(2, Op::kAlloc, 0, MemoryOrder::kNotAtomic, 16), ev(1, load, 8, kAcq)},
       {},
       {{0, 2}}},
      {"alloc elsewhere does not",
       {ev(0, store, 8, kRel), ev(2, Op::kAlloc, 9, MemoryOrder::kNotAtomic, 16), ev(1, load, 8, kAcq)},
       {{0, 2}},
       {}},
      {"alloc of the last byte does",
       {ev(0, store, 200, kRel), ev(2, Op::kAlloc, 1, MemoryOrder::kNotAtomic, 200), ev(1, load, 200, kAcq)},
       {},
       {{0, 2}}},
  };
  for (const Case& c : table) {
    check(c);
  }
}

}  // namespace
}  // namespace sooth
