#include "trace/tools/census.h"

namespace sooth {

void TraceCensus::consume(const Batch& batch) {
  events_ += batch.events.size();
  branches_ += batch.branches.size();
  deep_records_ += batch.deep.size();
  for (const Event& e : batch.events) {
    if (raw(e.op) >= kOpCount) {
      continue;
    }
    ++by_op_[raw(e.op)];
    active_threads_[raw(e.thread)];
    active_sites_[raw(e.site)];
    const bool of_signal = e.op == Op::kMisuse && is_signal_misuse(MisuseKind(e.size));  // its object is a mere number
    if (e.op != Op::kAlloc && e.op != Op::kFree && !of_signal) {
      objects_[raw(object_kind(e))][e.object];
    }
  }
}

}  // namespace sooth
