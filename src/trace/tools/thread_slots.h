// Small numbers for threads: a thread that starts takes over the number of one that is over, where that changes no
// order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/packed_column.h"
#include "trace/batch_outline.h"

namespace sooth {

// What analyses keep by thread (clocks above all) should cost what the threads cost that are alive, not all that ever
// were. So analyses see slots for threads. Whoever joins a thread knows all of it, and may hand its slot to a thread
// that it forks: every event of the former then must-precedes every event of the latter, and along a slot events are
// ordered as if one thread had made them. So one component of a clock speaks for both, exactly. Who joins a thread also
// gets the slots that the thread could have handed on.
//
// The slot of a thread that nobody joins, or whose joiner forks nothing more, is never used again. A thread that is
// joined twice (which POSIX forbids) counts, for the later join, as ended when the thread in its slot has come as far
// as it has: what follows is ordered after too much, never too little.
//
// As long as no slot was used again slots are the threads, and batches pass as they are. After that a batch costs a copy
// of its events. Memory: four bytes and a bit per thread of the trace, and four bytes or so more for one that took over
// a slot, to name threads in findings.
class ThreadSlots {
 public:
  // Every batch, before it or a part of it is renamed.
  void follow(const Batch& batch) { follow(batch, BatchOutline(batch)); }
  void follow(const Batch& batch, const BatchOutline& outline);
  // The batch with slots in the place of threads. `buffer` may become the place of the events.
  Batch renamed(const Batch& batch, std::vector<Event>& buffer) const;

  // The thread that had the slot when the event happened. Logarithmic.
  ThreadId thread(ThreadId slot, EventId event) const;
  // Slots in use, and those that can be used again.
  std::size_t count() const { return next_slot_; }

 private:
  // Of a slot that was used again: from which event on which thread.
  struct Tenants {
    PackedColumn from;
    PackedColumn threads;
  };

  void fork(const Event& e, EventId id);
  void join(const Event& e);
  std::uint32_t slot_of(ThreadId thread);
  void add_tenant(std::uint32_t slot, EventId from, ThreadId thread);
  void stop_being_identity();

  bool identity_ = true;
  std::uint32_t next_slot_ = 0;                    // above all threads seen, while slots are threads
  std::vector<std::uint32_t> slots_;               // by thread: slot + 1; not used while slots are threads
  std::vector<bool> joined_;                       // by thread
  std::vector<std::vector<std::uint32_t>> free_;   // by slot: the slots that its thread may hand on
  std::vector<std::unique_ptr<Tenants>> tenants_;  // by slot; nullptr: always the thread in first_
  std::vector<std::uint32_t> first_;               // by slot: its first thread; not used while slots are threads
};

}  // namespace sooth
