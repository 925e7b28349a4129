// A witness: a correct reordering of a part of a trace after which something bad is next.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "race/finding.h"
#include "trace/batch.h"
#include "trace/event.h"
#include "trace/tables.h"

namespace sooth {

// A trace, or its prefix, in memory: the id of an event is its index. Side columns may be empty. Owns nothing.
struct TraceView {
  std::span<const Event> events;
  std::span<const Value> values;          // empty, or parallel to events; of exact traces only
  std::span<const Branch> branches;       // sorted by `before`
  const Tables* tables = nullptr;         // names for the sentences of errors; may be absent
  std::span<const Reach> reaches = {};    // sorted by `call`; what is not recorded in those calls keeps its order
  std::span<const DeepRecord> deep = {};  // sorted by `before`
};

struct Witness {
  FindingKind kind = FindingKind::kRace;
  // Each thread contributes a prefix of its events, without those of `next`.
  std::vector<EventId> order;
  // What every thread in question does next: a race has the two accesses, which can then happen at the same time; a
  // deadlock has one acquire per thread of the cycle, each of a lock that the following thread (cyclically) holds.
  std::vector<EventId> next;
};

// Whether `witness` is what it claims to be: docs/semantics.md section 7. The error says what is wrong with it and
// names the event: "event 17 (T1 reads x) sees the write of event 3, in the trace it saw event 9". This is the judge
// of every producer of witnesses, so it shares no code with any of them.
//
// `trace` is well-formed (trace/check/validator.h), and of less than 2^32 - 1 events; the witness may be anything. Time
// and memory are linear in the trace up to the last event that the witness names, apart from a logarithm for atomics
// and for blocks that are allocated; a long read costs its bytes. With values in the view, which say something of exact
// traces only, a read may also see another write of what it found.
Status check_witness(const TraceView& trace, const Witness& witness);

}  // namespace sooth
