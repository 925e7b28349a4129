// Decides whether a trace is well-formed, and names the first event that is not.
#pragma once

#include <memory>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/tables.h"

namespace sooth {

// The rules, each named in the error it leads to:
//  - a lock held exclusively is held by nobody else; only a holder releases; shared sections overlap only shared
//    ones; a holder may acquire again (re-entrancy), but not upgrade from shared to exclusive; the release that ends
//    a section has the mode of the acquire that began it; held at the end is fine;
//  - a thread is forked at most once, not by itself, and before its first event; `begin` is its first event;
//    nothing of it follows its `end` or a join of it; no thread joins itself; a thread that nobody forked simply starts;
//  - accesses, alloc and free touch at least one byte and do not wrap around the address space; memory orders stand
//    on atomics and fences only; the shared flag stands on acquire and release only;
//  - a call ends only after it began in the same thread;
//  - a misuse is of a known kind; what it says of locks is not compared with the lock events, which tell what succeeded;
//  - every id (thread, site, stack) is in the tables, and every entry of a side column belongs to an event of its batch;
//  - with values: a read sees the bytes last written to its address. Bytes of unknown content match anything: those
//    not yet written, written without a value or by an rmw, allocated or freed since, or in reach of a running call.
// Values say something about exact traces only: of others, pass batches without values. With values pass reaches too.
// Fast enough to run in front of every analysis: constant work for plain accesses.
class TraceValidator {
 public:
  TraceValidator();
  ~TraceValidator();

  // Batches in trace order, without gaps. `tables` resolves their ids. After an error nothing more may be consumed.
  // An error names the event, its thread and what is wrong: "event 17 (T1): releases lock m which it does not hold".
  // `values_explained`: reads are known to see what was written (TraceReader::explains_values()); only the form of
  // values is checked. The same for all batches.
  Status consume(const Batch& batch, const Tables& tables, bool values_explained = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sooth
