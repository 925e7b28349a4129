#include "oracle/serializability.h"

#include <map>
#include <vector>

#include "oracle/must_order.h"
#include "oracle/oracle.h"

namespace sooth::oracle {
namespace {

// The block of each event, by the number of its first event; of a declared one, its outermost enter.
std::vector<Index> blocks_of(std::span<const Event> trace, const std::function<bool(SiteId)>& is_atomic) {
  struct Open {
    Index begin = 0;
    int depth = 0;
  };
  std::map<ThreadId, Open> open;
  std::vector<Index> blocks(trace.size());
  for (Index i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    Open& mine = open[e.thread];
    const bool atomic = (e.op == Op::kEnter || e.op == Op::kExit) && is_atomic(static_cast<SiteId>(e.object));
    if (e.op == Op::kEnter && atomic && mine.depth++ == 0) {
      mine.begin = i;
    }
    blocks[i] = mine.depth > 0 ? mine.begin : i;
    if (e.op == Op::kExit && atomic && mine.depth > 0) {
      --mine.depth;
    }
    if (e.op == Op::kEnd) {
      mine.depth = 0;
    }
  }
  return blocks;
}

bool sends_to(Op a, Op b) {
  return (a == Op::kNotify && b == Op::kWait) || (a == Op::kBarrierArrive && b == Op::kBarrierLeave) ||
         (a == Op::kSemPost && b == Op::kSemWait) || (a == Op::kHappensBefore && b == Op::kHappensAfter) ||
         (a == Op::kCondNotify && b == Op::kCondWait);
}

bool comes_before(std::span<const Event> trace, const Memory& memory, Index i, Index j) {
  const Event &a = trace[i], &b = trace[j];
  if (a.thread == b.thread) {
    return true;
  }
  if ((is_write(a.op) || is_write(b.op)) && memory.is_access(i) && memory.is_access(j) &&
      !memory.shared_bytes(i, j).empty()) {
    return true;
  }
  if (a.op == Op::kRelease && b.op == Op::kAcquire) {
    return a.object == b.object && !(is_shared(a) && is_shared(b));
  }
  return (a.op == Op::kFork && a.object == raw(b.thread)) || (b.op == Op::kJoin && b.object == raw(a.thread)) ||
         (sends_to(a.op, b.op) && a.object == b.object);
}

}  // namespace

std::set<EventId> violated_blocks(std::span<const Event> trace, const std::function<bool(SiteId)>& is_atomic) {
  const Memory memory(trace);
  const std::vector<Index> blocks = blocks_of(trace, is_atomic);
  const std::size_t n = trace.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) {
      if (blocks[i] != blocks[j] && comes_before(trace, memory, i, j)) {
        before[blocks[i]][blocks[j]] = true;
      }
    }
  }
  for (Index k = 0; k < n; ++k) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; before[i][k] && j < n; ++j) {
        before[i][j] = before[i][j] || before[k][j];
      }
    }
  }
  std::set<EventId> violated;
  for (Index i = 0; i < n; ++i) {
    if (before[i][i]) {
      violated.insert(EventId{i});
    }
  }
  return violated;
}

}  // namespace sooth::oracle
