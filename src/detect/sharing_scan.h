// A first look at a trace: which memory several threads use, and where they may be unordered.
#pragma once

#include <cstdint>
#include <memory>

#include "detect/shared_times.h"
#include "trace/batch.h"

namespace sooth {

// FastTrack's epochs for granules of 8 bytes, 16 bytes for each, and nothing else: most memory of most programs is used
// by one thread, and costs one look at one place here. What this finds is where and when (a granule, from one allocation
// to the next) a detector can find a pair at all; detectors that then see these accesses only (SharedView) report just
// what they report of all. Why that is so:
//
//  - hb: a pair is two conflicting accesses to a byte of one generation that happens-before leaves unordered. Both are
//    accesses to its granule in one stretch of time, and the epochs see that they are unordered. Accesses order nothing,
//    so hiding others changes no clock.
//  - wcp: the same of its order, but accesses in critical sections do order something, by conflicts with those of other
//    threads. So these are seen, too, where several threads access the memory.
//  - syncp: the same of must-order and reads-from. A read orders something only where the write that it saw is not known
//    yet; then the two are unordered before it, and the memory is seen.
//  - all others: a pair needs accesses of two threads to a byte of one generation, one of which writes.
//
// Errs to one side only: bytes of a granule are told apart only where an access would look unordered and all earlier ones
// were to other bytes, an allocation that begins or ends in the middle of what
// was accessed begins no generation, unless the event before it or after it allocates the rest, and what does not fit into a word is unordered.
//
// Threads may be slots (trace/tools/thread_slots.h) when all that is asked respects must-order.
class SharingScan {
 public:
  virtual ~SharingScan() = default;

  // Batches in trace order.
  virtual void consume(const Batch& batch) = 0;
  // What there was; nothing may be consumed afterwards, and the memory is given back.
  virtual SharedTimes finish() = 0;
  // What there was up to now, as if the trace ended here.
  virtual SharedTimes so_far() const = 0;
  // Accesses before the event can not be looked at again. From then on late() counts the places that were used before it
  // and come to be unordered after: who looks at what so_far() said misses accesses there.
  virtual void forget_before(EventId event) = 0;
  virtual std::uint64_t late() const = 0;

  // Accesses of a sample so far, and those of them that a view with these arguments (SharedView) would have kept, as far as was known
  // by then: how much is to be gained.
  virtual std::uint64_t accesses() const = 0;
  virtual std::uint64_t accesses(SharingLevel what, bool sections) const = 0;
  // Whether a lock was destroyed that, by happens-before, others might still have used: hb tells of those.
  virtual bool destroys_in_use() const = 0;
  // Bytes of the tables.
  virtual std::uint64_t memory() const = 0;
};

// The order that leaves accesses unordered. What happens-before does, wcp does too; what either or syncp's order does,
// kReads does (detect/read_order.h).
enum class ScanOrder : std::uint8_t { kHb, kWcp, kReads };
std::unique_ptr<SharingScan> make_sharing_scan(ScanOrder order);

}  // namespace sooth
