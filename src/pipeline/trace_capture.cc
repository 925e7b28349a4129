#include "pipeline/trace_capture.h"

#include <algorithm>
#include <utility>

#include "predict/barrier_order.h"
#include "trace/recording/call_reaches.h"

namespace sooth {

void TraceCapture::consume(const Batch& batch) {
  if (shared_ != nullptr) {
    project(batch);
    return;
  }
  const std::size_t room = max_events_ - std::min<std::uint64_t>(max_events_, events_.size());
  const std::size_t take = std::min(room, batch.events.size());
  whole_ = whole_ && take == batch.events.size();
  events_.insert(events_.end(), batch.events.begin(), batch.events.begin() + static_cast<std::ptrdiff_t>(take));
  if (keeps_values_ && !batch.values.empty()) {
    values_.resize(events_.size() - take);  // a text trace may have its first value late
    values_.insert(values_.end(), batch.values.begin(), batch.values.begin() + static_cast<std::ptrdiff_t>(take));
  } else if (!values_.empty()) {
    values_.resize(events_.size());
  }
  if (!batch.stacks.empty()) {
    stacks_.resize(events_.size() - take);
    stacks_.insert(stacks_.end(), batch.stacks.begin(), batch.stacks.begin() + static_cast<std::ptrdiff_t>(take));
  } else if (!stacks_.empty()) {
    stacks_.resize(events_.size());
  }
  for (const Branch& branch : batch.branches) {
    if (raw(branch.before) <= events_.size()) {
      branches_.push_back(branch);
    }
  }
  for (const DeepRecord& record : batch.deep) {
    if (raw(record.before) <= events_.size()) {
      deep_.push_back(record);
    }
  }
  for (std::size_t i = 0; i < batch.reaches.size(); ++i) {
    const Reach& reach = batch.reaches[i];
    calls_ += i == 0 || batch.reaches[i - 1].call != reach.call ? 1 : 0;
    unbounded_calls_ += MemoryRange{reach.begin, reach.length} == kEverything ? 1 : 0;
    if (raw(reach.call) < events_.size()) {
      reaches_.push_back(reach);
    }
  }
}

void TraceCapture::reach_everywhere(std::span<const Reach> ranges) {
  reaches_ = with_globals(events_, reaches_, ranges);
}

std::optional<EventId> TraceCapture::position(EventId id) const {
  const EventId at = position_at_least(id);
  const bool is_there = raw(at) < events_.size() && original(at) == id;
  return is_there ? std::optional(at) : std::nullopt;
}

EventId TraceCapture::position_at_least(EventId id) const {
  if (shared_ == nullptr) {
    return id;
  }
  return EventId{static_cast<std::uint64_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin())};
}

std::optional<TraceCapture::Dropped> TraceCapture::dropped_before(EventId id) const {
  return shared_ == nullptr ? std::nullopt : dropped_[raw(id)];
}

void TraceCapture::keep(const Batch& batch, std::size_t i) {
  const Event& event = batch.events[i];
  if (keeps_values_ && (!batch.values.empty() || !values_.empty())) {
    values_.resize(events_.size());  // a text trace may have its first value late
    values_.push_back(batch.values.empty() ? Value{} : batch.values[i]);
  }
  if (!batch.stacks.empty() || !stacks_.empty()) {
    stacks_.resize(events_.size());
    stacks_.push_back(batch.stacks.empty() ? kNoStack : batch.stacks[i]);
  }
  events_.push_back(event);
  ids_.push_back(advance(batch.first, i));
  const std::size_t thread = raw(event.thread);
  dropped_.push_back(thread < open_.size() ? std::exchange(open_[thread], std::nullopt) : std::nullopt);
}

void TraceCapture::project(const Batch& batch) {
  std::size_t next_branch = 0;
  const auto take_branches = [&](EventId up_to) {
    for (; next_branch < batch.branches.size() && batch.branches[next_branch].before <= up_to; ++next_branch) {
      if (whole_) {
        branches_.push_back(batch.branches[next_branch]);
        branches_.back().before = EventId{events_.size()};
      }
    }
  };
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const EventId id = advance(batch.first, i);
    take_branches(id);
    const Event& event = batch.events[i];
    const bool is_kept = (event.op != Op::kRead && event.op != Op::kWrite) || shared_->has(event);
    whole_ = whole_ && (!is_kept || events_.size() < max_events_);
    if (!whole_) {
      return;
    }
    if (is_kept) {
      keep(batch, i);
      continue;
    }
    const std::size_t thread = raw(event.thread);
    if (thread >= open_.size()) {
      open_.resize(thread + 1);
    }
    open_[thread] = {open_[thread].has_value() ? open_[thread]->first : id, id};
  }
  take_branches(advance(batch.first, batch.events.size()));
}

}  // namespace sooth
