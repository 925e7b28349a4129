#include "trace/tools/thread_slots.h"

#include <algorithm>

namespace sooth {

void ThreadSlots::follow(const Batch& batch, const BatchOutline& outline) {
  // Few batches fork or join.
  std::uint32_t last = 0;
  for (const BatchOutline::Run& run : outline.runs()) {
    last = std::max(last, raw(run.thread));
  }
  const bool edges = std::any_of(outline.others().begin(), outline.others().end(), [&](std::uint32_t i) {
    return batch.events[i].op == Op::kFork || batch.events[i].op == Op::kJoin;
  });
  if (!edges && !identity_) {
    for (const BatchOutline::Run& run : outline.runs()) {
      (void)slot_of(run.thread);
    }
    return;
  }
  if (identity_ && !edges) {
    next_slot_ = batch.events.empty() ? next_slot_ : std::max(next_slot_, last + 1);
    return;
  }
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& e = batch.events[i];
    (void)slot_of(e.thread);
    if (e.op == Op::kFork) {
      fork(e, batch.id(i));
    } else if (e.op == Op::kJoin) {
      join(e);
    }
  }
}

Batch ThreadSlots::renamed(const Batch& batch, std::vector<Event>& buffer) const {
  if (identity_) {
    return batch;
  }
  buffer.assign(batch.events.begin(), batch.events.end());
  for (Event& e : buffer) {
    e.thread = ThreadId(slots_[raw(e.thread)] - 1);
    if (e.op == Op::kFork || e.op == Op::kJoin) {
      e.object = slots_[e.object] - 1;
    }
  }
  Batch result = batch;
  result.events = buffer;
  return result;
}

ThreadId ThreadSlots::thread(ThreadId slot, EventId event) const {
  if (raw(slot) >= first_.size()) {
    return slot;
  }
  std::size_t begin = 0, end = 0;
  if (raw(slot) < tenants_.size() && tenants_[raw(slot)] != nullptr) {
    end = tenants_[raw(slot)]->from.size();
  }
  const std::size_t count = end;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (raw(event) < tenants_[raw(slot)]->from[middle]) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return count == 0 || begin == 0 ? ThreadId{first_[raw(slot)]} : ThreadId(tenants_[raw(slot)]->threads[begin - 1]);
}

void ThreadSlots::add_tenant(std::uint32_t slot, EventId from, ThreadId thread) {
  if (slot >= tenants_.size()) {
    tenants_.resize(slot + 1);
  }
  if (tenants_[slot] == nullptr) {
    tenants_[slot] = std::make_unique<Tenants>();
  }
  tenants_[slot]->from.push_back(raw(from));
  tenants_[slot]->threads.push_back(raw(thread));
}

void ThreadSlots::fork(const Event& e, EventId id) {
  const std::uint32_t parent = slot_of(e.thread);
  const auto child = ThreadId(static_cast<std::uint32_t>(e.object));
  if (parent >= free_.size() || free_[parent].empty()) {
    (void)slot_of(child);
    return;
  }
  if (identity_) {
    stop_being_identity();
  }
  slots_.resize(std::max(slots_.size(), std::size_t{raw(child)} + 1));
  if (slots_[raw(child)] != 0) {
    return;  // it has its own already
  }
  const std::uint32_t slot = free_[parent].back();
  free_[parent].pop_back();
  slots_[raw(child)] = slot + 1;
  add_tenant(slot, id, child);
}

void ThreadSlots::join(const Event& e) {
  const std::uint32_t joiner = slot_of(e.thread);
  const auto over = ThreadId(static_cast<std::uint32_t>(e.object));
  const std::uint32_t slot = slot_of(over);
  joined_.resize(std::max(joined_.size(), std::size_t{raw(over)} + 1));
  if (joined_[raw(over)]) {
    return;
  }
  joined_[raw(over)] = true;
  free_.resize(std::max(free_.size(), std::size_t{std::max(joiner, slot)} + 1));
  std::vector<std::uint32_t>& mine = free_[joiner];
  mine.insert(mine.end(), free_[slot].begin(), free_[slot].end());
  mine.push_back(slot);
  free_[slot] = {};
}

std::uint32_t ThreadSlots::slot_of(ThreadId thread) {
  if (identity_) {
    next_slot_ = std::max(next_slot_, raw(thread) + 1);
    return raw(thread);
  }
  if (raw(thread) >= slots_.size()) [[unlikely]] {
    slots_.resize(std::max(slots_.size() * 2, std::size_t{raw(thread)} + 1));
  }
  std::uint32_t& slot = slots_[raw(thread)];
  if (slot == 0) [[unlikely]] {
    slot = ++next_slot_;
    first_.push_back(raw(thread));
  }
  return slot - 1;
}

// All threads seen so far keep their numbers.
void ThreadSlots::stop_being_identity() {
  identity_ = false;
  slots_.resize(std::max<std::size_t>(slots_.size(), next_slot_));
  for (std::uint32_t thread = 0; thread < next_slot_; ++thread) {
    slots_[thread] = thread + 1;
    first_.push_back(thread);
  }
}

}  // namespace sooth
