#include "order/lock_view.h"

#include <algorithm>

namespace sooth {

LockView::LockView(std::span<const MadeLock> locks, Of of) {
  for (const MadeLock& lock : locks) {
    if (!(of == Of::kReversible ? lock.reversible : lock.meant)) {
      continue;
    }
    for (const MadeLock::Step& step : lock.steps) {
      steps_.push_back({step.event, step.role, lock.semaphore, lock.object});
    }
    for (const MadeLock::Word& word : lock.words) {
      silent_[word.address].push_back({word.first, word.last});
    }
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.event < b.event; });
}

Batch LockView::show(const Batch& batch) {
  if (empty() || batch.events.empty()) {
    return batch;
  }
  auto next = static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), batch.id(0),
                                                        [](const Step& step, EventId id) { return step.event < id; }) -
                                       steps_.begin());
  if (!changes(batch, next)) {
    return batch;
  }
  events_.clear();
  ids_.clear();
  stacks_.clear();
  has_stacks_ = !batch.stacks.empty();
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& e = batch.events[i];
    const EventId id = batch.id(i);
    while (next < steps_.size() && steps_[next].event < id) {
      ++next;
    }
    const bool steps = next < steps_.size() && steps_[next].event == id;
    if (!(steps && steps_[next].semaphore)) {
      Event shown = e;
      shown.order = is_atomic(e.op) && is_silent(e, id) ? MemoryOrder::kNotAtomic : e.order;
      add(shown, id, batch.stack(i));
    }
    if (steps) {
      add_lock_events(e, steps_[next], batch.stack(i));
    }
  }
  Batch shown;
  shown.first = batch.first;
  shown.events = events_;
  shown.ids = ids_;
  shown.stacks = stacks_;
  return shown;
}

bool LockView::is_silent(const Event& e, EventId id) const {
  const std::vector<Span>* spans = silent_.find(e.object);
  return spans != nullptr &&
         std::any_of(spans->begin(), spans->end(), [&](const Span& s) { return s.first <= id && id <= s.last; });
}

bool LockView::changes(const Batch& batch, std::size_t next) const {
  const EventId last = batch.id(batch.events.size() - 1);
  if (next < steps_.size() && steps_[next].event <= last) {
    return true;
  }
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    if (is_atomic(batch.events[i].op) && is_silent(batch.events[i], batch.id(i))) {
      return true;
    }
  }
  return false;
}

void LockView::add(const Event& e, EventId id, StackId stack) {
  events_.push_back(e);
  ids_.push_back(id);
  if (has_stacks_) {
    stacks_.push_back(stack);
  }
}

void LockView::add_lock_events(const Event& e, const Step& step, StackId stack) {
  Event lock;
  lock.object = step.lock;
  lock.thread = e.thread;
  lock.site = e.site;
  const auto add_one = [&](Op op, std::uint8_t flags) {
    lock.op = op;
    lock.flags = flags;
    add(lock, step.event, stack);
  };
  switch (step.role) {
    case MadeLock::Role::kTake: return add_one(Op::kAcquire, 0);
    case MadeLock::Role::kGive: return add_one(Op::kRelease, 0);
    case MadeLock::Role::kFailed: return add_one(Op::kAcquireFailed, kTry);
    case MadeLock::Role::kFree: add_one(Op::kAcquire, kTry); return add_one(Op::kRelease, 0);
  }
}

}  // namespace sooth
