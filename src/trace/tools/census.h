// Counts what is in a trace.
#pragma once

#include <array>
#include <cstdint>

#include "base/flat_map.h"
#include "trace/batch.h"

namespace sooth {

// The trace may be malformed; events of an unknown kind count as events only. Memory grows with the number of
// distinct objects, not of events.
class TraceCensus {
 public:
  void consume(const Batch& batch);

  std::uint64_t events() const { return events_; }
  std::uint64_t events_of(Op op) const { return by_op_[raw(op)]; }
  std::uint64_t branches() const { return branches_; }
  std::uint64_t deep_records() const { return deep_records_; }
  // Distinct objects of a kind that events refer to. Variables are distinct first bytes of accesses, so an array
  // counts once for each element that was accessed; alloc and free do not count.
  std::uint64_t objects(ObjectKind kind) const { return objects_[raw(kind)].size(); }
  std::uint64_t variables() const { return objects(ObjectKind::kMemory); }
  std::uint64_t locks() const { return objects(ObjectKind::kLock); }
  // Threads and sites that have events: the tables may name more.
  std::uint64_t active_threads() const { return active_threads_.size(); }
  std::uint64_t active_sites() const { return active_sites_.size(); }

 private:
  struct Nothing {};

  std::uint64_t events_ = 0;
  std::uint64_t branches_ = 0;
  std::uint64_t deep_records_ = 0;
  std::array<std::uint64_t, kOpCount> by_op_{};
  std::array<FlatMap<Nothing>, kObjectKindCount> objects_;
  FlatMap<Nothing> active_threads_;
  FlatMap<Nothing> active_sites_;
};

}  // namespace sooth
