#include "filter/tree_context.h"

#include <algorithm>
#include <utility>

namespace sooth {

TreeContext& TreeContexts::start(ThreadId thread) {
  if (raw(thread) >= places_.size()) {
    places_.resize(raw(thread) + 1);
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(threads_.size()));
    threads_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  places_[raw(thread)] = place + 1;
  threads_[place].thread = thread;
  return threads_[place];
}

void TreeContexts::forget(ThreadId thread) {
  if (raw(thread) >= places_.size() || places_[raw(thread)] == 0) {
    return;
  }
  const std::uint32_t place = places_[raw(thread)] - 1;
  largest_ = std::max(largest_, threads_[place].count);
  threads_[place] = TreeContext{};
  free_.push_back(place);
  places_[raw(thread)] = 0;
}

std::uint32_t TreeContexts::note_use(TreeContext& context, std::uint64_t lock) {
  std::uint32_t& note = context.use_of[lock];
  if (note == 0) {
    std::uint32_t& place = lock_place_[lock];
    if (place == 0) {
      lock_events_.push_back(0);
      place = static_cast<std::uint32_t>(lock_events_.size());
    }
    context.uses.emplace_back().lock = place - 1;
    note = static_cast<std::uint32_t>(context.uses.size());
  }
  return note;
}

void TreeContexts::open_section(TreeContext& context, LockStack::Entry& entry) {
  if (entry.note == 0) {
    entry.note = note_use(context, entry.mode.lock);
  }
  TreeContext::Use& use = context.uses[entry.note - 1];
  std::uint64_t& all = lock_events_[use.lock];
  context.count += use.open(all, entry.mode.shared);
  ++all;
}

void TreeContexts::close_section(TreeContext& context, LockStack::Entry& entry) {
  if (entry.note == 0) {  // opened before the counts started; its part in them has been 0
    entry.note = note_use(context, entry.mode.lock);
    context.uses[entry.note - 1].shared = entry.mode.shared;
  }
  TreeContext::Use& use = context.uses[entry.note - 1];
  ++lock_events_[use.lock];
  context.count += use.close();
}

std::uint64_t TreeContexts::restart() {
  std::uint64_t largest = std::exchange(largest_, 0);
  for (TreeContext& context : threads_) {
    largest = std::max(largest, context.count);
    context.count = 0;
    // Nothing else is left of one that holds nothing; it may also have ended while nobody looked.
    if (context.locks.empty()) {
      forget(context.thread);
      continue;
    }
    context.uses.clear();
    context.use_of.clear();
    context.locks.forget_notes();
  }
  lock_events_.clear();
  lock_place_.clear();
  return largest;
}

std::uint64_t TreeContexts::memory() const {
  std::uint64_t bytes = threads_.capacity() * sizeof(TreeContext) +
                        (places_.capacity() + free_.capacity()) * sizeof(std::uint32_t) +
                        lock_events_.capacity() * sizeof(std::uint64_t) + lock_place_.memory();
  for (const TreeContext& context : threads_) {
    bytes += context.locks.memory() + context.uses.capacity() * sizeof(TreeContext::Use) + context.use_of.memory();
  }
  return bytes;
}

}  // namespace sooth
