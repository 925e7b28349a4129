#include "pipeline/overview.h"

#include <algorithm>
#include <utility>

namespace sooth {

void OverviewCollector::widen() {
  threads_.for_each([](std::uint64_t, Thread& thread) {
    std::vector<Slice> wider;
    for (const Slice& slice : thread.slices) {
      if (wider.empty() || wider.back().number != slice.number / 2) {
        wider.push_back({slice.number / 2, 0});
      }
      wider.back().events += slice.events;
    }
    thread.slices = std::move(wider);
  });
  width_ *= 2;
}

void OverviewCollector::count_threads(const BatchOutline& outline, std::size_t first, std::size_t end,
                                      std::size_t& run) {
  for (; run < outline.runs().size() && outline.runs()[run].first < end; ++run) {
    const BatchOutline::Run& each = outline.runs()[run];
    const std::size_t from = std::max<std::size_t>(each.first, first);
    const std::size_t to = std::min<std::size_t>(each.end, end);
    Recent& recent = recent_of(each.thread, from - first);
    recent.events += static_cast<std::uint32_t>(to - from);
    recent.last = static_cast<std::uint32_t>(to - first - 1);
    if (each.end > end) {
      break;  // the rest is of the next slice
    }
  }
  settle(end - first);
}

OverviewCollector::Recent& OverviewCollector::recent_of(ThreadId thread, std::size_t first) {
  const std::size_t number = raw(thread);
  if (number >= place_.size()) [[unlikely]] {
    place_.resize(number + 1);
  }
  if (place_[number] == 0) {
    const auto at = static_cast<std::uint32_t>(first);
    recent_.push_back({raw(thread), 0, at, at});
    place_[number] = static_cast<std::uint32_t>(recent_.size());
  }
  return recent_[place_[number] - 1];
}

void OverviewCollector::note_end(const Event& e) {
  over_.push_back(e.op == Op::kEnd ? raw(e.thread) : e.object);
  constexpr std::size_t kEnough = 64 * kMaxThreads;
  if (over_.size() >= kEnough) {
    forget_idle();
  }
}

void OverviewCollector::forget_idle() {
  std::sort(over_.begin(), over_.end());
  over_.erase(std::unique(over_.begin(), over_.end()), over_.end());
  std::erase_if(over_, [&](std::uint64_t number) { return !threads_.contains(number); });
  // As busiest_threads() chooses.
  std::stable_sort(over_.begin(), over_.end(), [&](std::uint64_t a, std::uint64_t b) {
    return threads_.find(a)->events > threads_.find(b)->events;
  });
  const std::size_t kept = std::min(over_.size(), kMaxThreads);
  for (std::size_t i = kept; i < over_.size(); ++i) {
    threads_.erase(over_[i]);
  }
  over_.resize(kept);
}

void OverviewCollector::count_acquire(const Event& e) {
  Lock& lock = locks_[e.object];
  if (lock.acquires++ == 0) {
    lock_order_.push_back(e.object);
  } else if (lock.last != e.thread) {
    ++lock.handovers;
  }
  lock.last = e.thread;
}

void OverviewCollector::settle(std::size_t count) {
  for (const Recent& recent : recent_) {
    Thread& thread = threads_[recent.thread];
    thread_count_ += thread.events == 0 ? 1 : 0;
    thread.first = thread.events == 0 ? EventId{events_ + recent.first} : thread.first;
    thread.last = EventId{events_ + recent.last};
    thread.events += recent.events;
    if (thread.slices.empty() || thread.slices.back().number != events_ / width_) {
      thread.slices.push_back({events_ / width_, 0});
    }
    thread.slices.back().events += recent.events;
    place_[recent.thread] = 0;
  }
  recent_.clear();
  events_ += count;
}

void OverviewCollector::consume(const Batch& batch, const BatchOutline& outline) {
  const std::size_t size = batch.events.size();
  std::size_t run = 0;
  for (std::size_t first = 0; first < size;) {
    while (events_ >= kSlices * width_) {
      widen();
    }
    const std::size_t take = std::min<std::uint64_t>({width_ - events_ % width_, size - first, kMaxStretch});
    count_threads(outline, first, first + take, run);
    first += take;
  }
  kinds_[raw(Op::kRead)] += outline.reads();
  kinds_[raw(Op::kWrite)] += outline.writes();
  for (const std::uint32_t i : outline.others()) {
    const Event& e = batch.events[i];
    ++kinds_[raw(e.op)];
    if (e.op == Op::kAcquire) {
      count_acquire(e);
    } else if (e.op == Op::kEnd || e.op == Op::kJoin) {
      note_end(e);
    }
  }
}

std::vector<ThreadActivity> OverviewCollector::busiest_threads(const Tables& tables) const {
  std::vector<std::uint64_t> order;
  threads_.for_each([&](std::uint64_t number, const Thread&) { order.push_back(number); });
  std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return threads_.find(a)->events > threads_.find(b)->events;
  });
  order.resize(std::min(order.size(), kMaxThreads));
  std::sort(order.begin(), order.end());
  const std::uint64_t slices = (events_ + width_ - 1) / width_;
  std::vector<ThreadActivity> busiest;
  for (const std::uint64_t number : order) {
    const Thread& thread = *threads_.find(number);
    ThreadActivity& row = busiest.emplace_back();
    row.thread = tables.thread_name(ThreadId{static_cast<std::uint32_t>(number)});
    row.events = thread.events;
    row.first = thread.first;
    row.last = thread.last;
    row.activity.resize(slices);
    for (const Slice& slice : thread.slices) {
      row.activity[slice.number] = slice.events;
    }
  }
  return busiest;
}

RunOverview OverviewCollector::overview(const Tables& tables) const {
  RunOverview overview;
  overview.slice = width_;
  for (int op = 0; op < kOpCount; ++op) {
    if (kinds_[static_cast<std::size_t>(op)] > 0) {
      overview.kinds.emplace_back(Op(op), kinds_[static_cast<std::size_t>(op)]);
    }
  }
  overview.threads = busiest_threads(tables);
  overview.more_threads = thread_count_ - overview.threads.size();
  std::vector<std::uint64_t> locks = lock_order_;
  std::stable_sort(locks.begin(), locks.end(), [&](std::uint64_t a, std::uint64_t b) {
    return locks_.find(a)->acquires > locks_.find(b)->acquires;
  });
  overview.more_locks = locks.size() - std::min(locks.size(), kMaxLocks);
  locks.resize(std::min(locks.size(), kMaxLocks));
  for (const std::uint64_t number : locks) {
    const Lock& lock = *locks_.find(number);
    overview.locks.push_back({tables.describe(ObjectKind::kLock, number), lock.acquires, lock.handovers});
  }
  return overview;
}

}  // namespace sooth
