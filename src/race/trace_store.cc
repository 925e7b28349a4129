#include "race/trace_store.h"

#include <algorithm>
#include <string>

#include "trace/check/validator.h"

namespace sooth {
namespace {

// The part of the batch in front of `up_to`.
Batch cut(Batch batch, EventId up_to) {
  const std::uint64_t count = raw(up_to) - raw(batch.first);
  const auto front = [](auto column, std::uint64_t size) {
    return column.first(static_cast<std::size_t>(std::min<std::uint64_t>(column.size(), size)));
  };
  batch.events = front(batch.events, count);
  batch.values = front(batch.values, count);
  batch.stacks = front(batch.stacks, count);
  const auto branch =
      std::find_if(batch.branches.begin(), batch.branches.end(), [&](const Branch& b) { return b.before >= up_to; });
  batch.branches = front(batch.branches, static_cast<std::uint64_t>(branch - batch.branches.begin()));
  const auto deep =
      std::find_if(batch.deep.begin(), batch.deep.end(), [&](const DeepRecord& d) { return d.before >= up_to; });
  batch.deep = front(batch.deep, static_cast<std::uint64_t>(deep - batch.deep.begin()));
  const auto reach =
      std::find_if(batch.reaches.begin(), batch.reaches.end(), [&](const Reach& r) { return r.call >= up_to; });
  batch.reaches = front(batch.reaches, static_cast<std::uint64_t>(reach - batch.reaches.begin()));
  return batch;
}

}  // namespace

void TraceStore::append(const Batch& batch) {
  if (!batch.values.empty()) {
    values_.resize(events_.size());  // a text trace may have its first value late
    values_.insert(values_.end(), batch.values.begin(), batch.values.end());
  }
  events_.insert(events_.end(), batch.events.begin(), batch.events.end());
  if (!values_.empty()) {
    values_.resize(events_.size());
  }
  branches_.insert(branches_.end(), batch.branches.begin(), batch.branches.end());
  reaches_.insert(reaches_.end(), batch.reaches.begin(), batch.reaches.end());
  deep_.insert(deep_.end(), batch.deep.begin(), batch.deep.end());
}

Result<TraceStore> load_trace(TraceReader& reader, std::uint64_t max_events, EventId up_to) {
  TraceStore store;
  TraceValidator validator;
  while (EventId{store.events_.size()} < up_to) {
    Result<Batch> next = reader.next();
    if (!next.ok()) {
      return std::move(next).status();
    }
    if (next->empty()) {
      break;
    }
    const Batch batch = cut(*next, up_to);
    if (store.events_.size() + batch.events.size() > max_events) {
      return Status::bad_input("the trace has more than " + std::to_string(max_events) +
                               " events, the most that may be kept in memory");
    }
    Batch judged = batch;
    if (!reader.info().exact) {
      judged.values = {};  // they say nothing when the order of events is not what happened
    }
    SOOTH_RETURN_IF_ERROR(validator.consume(judged, reader.tables()));
    store.append(judged);
  }
  store.tables_ = reader.tables();
  store.info_ = reader.info();
  return store;
}

}  // namespace sooth
