// A filter stands between the trace and the detectors and hides events that can add nothing to what they report.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/batch.h"

namespace sooth {

// What the detectors behind a filter report just as they would without it. Each step includes those before it.
enum class Preserves : std::uint8_t {
  kNoPairs,           // only what does not depend on accesses, such as cycles of locks
  kLocksetPairs,      // pairs decided by the locks held, whatever the order
  kHybridPairs,       // ... and pairs decided by must-order and the locks held
  kHbPairs,           // ... and pairs that happens-before leaves unordered
  kWcpPairs,          // ... and those of orders that critical sections with conflicting accesses make
  kPredictablePairs,  // ... and all pairs decided by which write each read saw
  kEverything,        // what only no filter preserves
};

// What a filter did, for --stats.
struct FilterCounts {
  std::uint64_t looked_at = 0;     // plain reads and writes; the others passed without a look
  std::uint64_t hidden_intra = 0;  // of those hidden because of an access of the same thread
  std::uint64_t hidden_inter = 0;  // ... because of accesses of two other threads
  std::uint64_t hidden_locks = 0;  // acquires and releases
  std::uint64_t locations = 0;     // remembered at the end
  std::uint64_t memory = 0;        // bytes of all tables
};

// Hides events, never reorders or invents them. Hidden are plain reads and writes; whatever orders threads or changes
// what memory is passes, and so do lock events, unless nobody behind the filter cares for more than the locks held at
// accesses: then critical sections may be hidden in which nothing is left. The rest is a well-formed trace. Hidden are
// events from detectors; whoever argues with what a read saw gets the whole trace.
class Filter {
 public:
  virtual ~Filter() = default;

  virtual Preserves preserves() const = 0;
  // What is left of the batch, valid until the next call or the end of `batch`: the batch itself when nothing is
  // hidden, else events and stacks close together with their ids; values are left out. Batches in trace order, of a
  // well-formed trace.
  virtual Batch hide(const Batch& batch) = 0;
  virtual FilterCounts counts() const = 0;
};

}  // namespace sooth
