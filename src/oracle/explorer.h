// Exhaustive search through the correct reorderings of a tiny trace: which races and deadlocks another schedule of the
// same steps can reach. Exponential; meant for about 16 events, 30 when few threads interleave.
//
// A correct reordering takes a prefix of each thread's events such that the hard part of must-order is kept (section 7
// of docs/semantics.md), a wait for a semaphore finds it above 0, an exclusive section overlaps no other section of its lock, a failed acquire finds its lock taken,
// a condition wait has a notify of its own (each is tried that it might take), and every binding read sees an admissible write in each byte (section 7). A byte of another generation is another variable; alloc itself neither
// writes nor orders.
//
// Which reads bind is known only later, so here a read may see anything. When that is not admissible, or comes from a
// write that is in doubt, its thread is *astray*: its writes are in doubt from then on, and it cannot pass a branch.
//
// A pair of conflicting accesses is a predictable race when a correct reordering ends with both next in their threads
// and nothing but each other left to wait for. A predictable deadlock is a set of threads, each with an acquire next,
// one that waits for as long as it takes, that a section held by another thread of the set blocks.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "oracle/must_order.h"
#include "race/pair_table.h"
#include "race/witness.h"

namespace sooth::oracle {

struct Exploration {
  // The reordering that leads there; the racing accesses and the blocked acquires are not in it.
  using Witness = std::vector<EventId>;

  std::map<std::pair<EventId, EventId>, Witness> races;  // the access that is earlier in the trace first
  std::map<std::vector<EventId>, Witness> deadlocks;     // the blocked acquires of a cycle, sorted
  std::size_t states = 0;
  bool complete = true;  // false: stopped at the bound, absence means nothing

  std::vector<Candidate> candidates() const;
};

// With values, branches and reaches of calls (section 13) where the trace has them. The first `past` events have
// happened as recorded.
Exploration explore(const TraceView& trace, std::size_t max_states = 2'000'000, std::size_t past = 0);
Exploration explore(std::span<const Event> trace, std::size_t max_states = 2'000'000);

}  // namespace sooth::oracle
