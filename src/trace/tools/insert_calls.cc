#include "trace/tools/insert_calls.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sooth {
namespace {

constexpr std::uint64_t kAllRecords = std::numeric_limits<std::uint64_t>::max();

}  // namespace

CallInserter::CallInserter(std::vector<CallMark> marks) : marks_(std::move(marks)) {
  std::stable_sort(marks_.begin(), marks_.end(), [](const CallMark& a, const CallMark& b) { return a.spot < b.spot; });
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    put_in_.push_back(EventId{marks_[i].spot.event + i});
  }
}

EventId CallInserter::renumbered(EventId old) const {
  const auto behind =
      std::upper_bound(marks_.begin(), marks_.end(), raw(old),
                       [](std::uint64_t event, const CallMark& mark) { return event < mark.spot.event; });
  return advance(old, static_cast<std::uint64_t>(behind - marks_.begin()));
}

EventId CallInserter::original(EventId renumbered) const {
  const auto behind = std::lower_bound(put_in_.begin(), put_in_.end(), renumbered);
  return EventId{raw(renumbered) - static_cast<std::uint64_t>(behind - put_in_.begin())};
}

bool CallInserter::is_put_in(EventId renumbered) const {
  return std::binary_search(put_in_.begin(), put_in_.end(), renumbered);
}

void CallInserter::begin_batch() {
  written_ += events_.size();
  events_.clear();
  values_.clear();
  stacks_.clear();
  branches_.clear();
  reaches_.clear();
  deep_.clear();
}

Batch CallInserter::made() const {
  return {EventId{written_}, events_, values_, stacks_, branches_, reaches_, {}, deep_};
}

void CallInserter::put_marks(const CallSpot& up_to) {
  for (; next_mark_ < marks_.size() && marks_[next_mark_].spot <= up_to; ++next_mark_) {
    const CallMark& mark = marks_[next_mark_];
    Event e;
    e.op = mark.begins ? Op::kCallBegin : Op::kCallEnd;
    e.thread = mark.thread;
    e.site = mark.site;
    e.object = mark.object;
    for (const MemoryRange& range : mark.reach) {
      reaches_.push_back({put_in_[next_mark_], range.begin, range.length});
    }
    events_.push_back(e);
    if (with_values_) {
      values_.emplace_back();
    }
    if (with_stacks_) {
      stacks_.push_back(kNoStack);
    }
  }
}

Batch CallInserter::rewrite(const Batch& batch) {
  begin_batch();
  with_values_ = !batch.values.empty();
  with_stacks_ = !batch.stacks.empty();
  auto branch = batch.branches.begin();
  auto reach = batch.reaches.begin();
  auto deep = batch.deep.begin();
  for (std::size_t i = 0; i <= batch.events.size(); ++i) {
    const EventId id = batch.id(i);
    for (; deep != batch.deep.end() && deep->before <= id; ++deep, ++records_) {
      put_marks({raw(id), records_});
      deep_.push_back(*deep);
      deep_.back().before = EventId{written_ + events_.size()};
    }
    if (i == batch.events.size()) {
      break;  // what stands in front of the next event comes with it
    }
    put_marks({raw(id), kAllRecords});
    for (; branch != batch.branches.end() && branch->before <= id; ++branch) {
      branches_.push_back(*branch);
      branches_.back().before = EventId{written_ + events_.size()};
    }
    for (; reach != batch.reaches.end() && reach->call == id; ++reach) {
      reaches_.push_back(*reach);
      reaches_.back().call = EventId{written_ + events_.size()};
    }
    events_.push_back(batch.events[i]);
    if (with_values_) {
      values_.push_back(batch.values[i]);
    }
    if (with_stacks_) {
      stacks_.push_back(batch.stacks[i]);
    }
  }
  for (; branch != batch.branches.end(); ++branch) {
    branches_.push_back(*branch);
    branches_.back().before = renumbered(branch->before);
  }
  return made();
}

Batch CallInserter::finish() {
  begin_batch();
  put_marks({kAllRecords, kAllRecords});
  return made();
}

}  // namespace sooth
