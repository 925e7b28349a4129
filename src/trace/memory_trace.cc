#include "trace/memory_trace.h"

#include <algorithm>
#include <string>

namespace sooth {
namespace {

template <typename T>
void append_to(std::vector<T>& all, std::span<const T> part) {
  all.insert(all.end(), part.begin(), part.end());
}

ColumnSet columns_of(const Batch& batch) {
  return static_cast<ColumnSet>((batch.values.empty() ? 0 : kValues) | (batch.stacks.empty() ? 0 : kStacks) |
                                (batch.branches.empty() ? 0 : kBranches) | (batch.reaches.empty() ? 0 : kReaches) |
                                (batch.deep.empty() ? 0 : kDeep));
}

}  // namespace

Status MemoryTraceWriter::append(const Batch& batch) {
  if (finished_) {
    return Status::internal("events are appended after the end of the trace");
  }
  if (raw(batch.first) != trace_.events.size()) {
    return Status::internal("a batch that starts at event " + std::to_string(raw(batch.first)) + " is appended after " +
                            std::to_string(trace_.events.size()) + " events");
  }
  if ((columns_of(batch) & ~trace_.info.columns) != 0) {
    return Status::internal("a batch has a column that the trace does not have");
  }
  append_to(trace_.events, batch.events);
  append_to(trace_.values, batch.values);
  append_to(trace_.stacks, batch.stacks);
  append_to(trace_.branches, batch.branches);
  append_to(trace_.reaches, batch.reaches);
  append_to(trace_.deep, batch.deep);
  return {};
}

Status MemoryTraceWriter::finish() {
  finished_ = true;
  trace_.info.events = trace_.events.size();
  return {};
}

MemoryTraceReader::MemoryTraceReader(const MemoryTrace& trace, std::size_t batch_events, const ReadOptions& options)
    : trace_(trace), batch_events_(std::max<std::size_t>(1, batch_events)), columns_(options.columns) {}

Result<Batch> MemoryTraceReader::next() {
  const std::size_t first = next_event_;
  next_event_ = std::min(first + batch_events_, trace_.events.size());
  const bool last = next_event_ == trace_.events.size();
  const std::size_t count = next_event_ - first;

  const std::size_t branch = next_branch_;
  while (next_branch_ < trace_.branches.size() && (last || raw(trace_.branches[next_branch_].before) < next_event_)) {
    ++next_branch_;
  }
  const std::size_t deep = next_deep_;
  while (next_deep_ < trace_.deep.size() && (last || raw(trace_.deep[next_deep_].before) < next_event_)) {
    ++next_deep_;
  }
  const std::size_t reach = next_reach_;
  while (next_reach_ < trace_.reaches.size() && raw(trace_.reaches[next_reach_].call) < next_event_) {
    ++next_reach_;
  }

  Batch batch;
  batch.first = EventId{first};
  batch.events = std::span(trace_.events).subspan(first, count);
  if ((columns_ & kValues) != 0 && !trace_.values.empty()) {
    batch.values = std::span(trace_.values).subspan(first, count);
  }
  if ((columns_ & kStacks) != 0 && !trace_.stacks.empty()) {
    batch.stacks = std::span(trace_.stacks).subspan(first, count);
  }
  if ((columns_ & kBranches) != 0) {
    batch.branches = std::span(trace_.branches).subspan(branch, next_branch_ - branch);
  }
  if ((columns_ & kReaches) != 0) {
    batch.reaches = std::span(trace_.reaches).subspan(reach, next_reach_ - reach);
  }
  if ((columns_ & kDeep) != 0) {
    batch.deep = std::span(trace_.deep).subspan(deep, next_deep_ - deep);
  }
  return batch;
}

}  // namespace sooth
