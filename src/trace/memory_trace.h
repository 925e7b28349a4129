// A trace in memory behind the reader and writer interfaces: for tests, and for experiments that need no file.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/reader.h"
#include "trace/writer.h"

namespace sooth {

// Everything that a trace holds. `values` and `stacks` are empty or parallel to `events`, as in a batch.
struct MemoryTrace {
  TraceInfo info;
  Tables tables;
  std::vector<Event> events;
  std::vector<Value> values;
  std::vector<StackId> stacks;
  std::vector<Branch> branches;
  std::vector<Reach> reaches;
  std::vector<DeepRecord> deep = {};

  // All of it at once; valid while the trace is neither changed nor destroyed.
  Batch batch() const { return {EventId{0}, events, values, stacks, branches, reaches, {}, deep}; }
};

// Collects what is appended. Columns that `info` does not announce are refused like events out of order.
class MemoryTraceWriter final : public TraceWriter {
 public:
  explicit MemoryTraceWriter(const TraceInfo& info = {}) { trace_.info = info; }

  Tables& tables() override { return trace_.tables; }
  Status append(const Batch& batch) override;
  Status finish() override;

  bool finished() const { return finished_; }
  // info.events is right after finish().
  const MemoryTrace& trace() const { return trace_; }

 private:
  MemoryTrace trace_;
  bool finished_ = false;
};

// Serves `trace`, which must outlive it, in batches of `batch_events` events. Side columns that `options` does
// not ask for are left out.
class MemoryTraceReader final : public TraceReader {
 public:
  explicit MemoryTraceReader(const MemoryTrace& trace, std::size_t batch_events = 4096,
                             const ReadOptions& options = {.columns = kAllColumns | kDeep});

  Result<Batch> next() override;
  const TraceInfo& info() const override { return trace_.info; }
  const Tables& tables() const override { return trace_.tables; }
  std::uint64_t bytes_read() const override { return next_event_ * sizeof(Event); }
  std::uint64_t bytes_total() const override { return trace_.events.size() * sizeof(Event); }

 private:
  const MemoryTrace& trace_;
  const std::size_t batch_events_;
  const ColumnSet columns_;
  std::size_t next_event_ = 0;
  std::size_t next_branch_ = 0;
  std::size_t next_reach_ = 0;
  std::size_t next_deep_ = 0;
};

}  // namespace sooth
