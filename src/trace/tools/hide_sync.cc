#include "trace/tools/hide_sync.h"

#include <algorithm>
#include <utility>

namespace sooth {
namespace {

bool synchronises(const Event& e) {
  switch (object_kind(e)) {
    case ObjectKind::kLock:
    case ObjectKind::kSignal:
    case ObjectKind::kBarrier:
    case ObjectKind::kSemaphore:
    case ObjectKind::kMessage: return e.op != Op::kMisuse;
    case ObjectKind::kNone:
    case ObjectKind::kMemory:
    case ObjectKind::kThread:
    case ObjectKind::kFunction:
    case ObjectKind::kCall: return false;
  }
  return false;
}

}  // namespace

SyncHider::Thread& SyncHider::of(ThreadId thread) {
  if (raw(thread) >= threads_.size()) {
    threads_.resize(raw(thread) + std::size_t{1});
  }
  return threads_[raw(thread)];
}

void SyncHider::scan(const Batch& batch, const Tables& tables) {
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& e = batch.events[i];
    Thread& thread = of(e.thread);
    const bool at_begin = std::exchange(thread.at_begin, e.op == Op::kBegin);
    if (e.op == Op::kEnd) {
      thread.over = true;
    } else if (e.op != Op::kBegin) {
      follow_stack(thread, batch.id(i), batch.stack(i), tables);
    }
    thread.latest = batch.id(i);
    if (synchronises(e)) {
      if (thread.frames.empty()) {
        alone_.push_back(batch.id(i));
      } else {
        thread.frames.back().synchronises = true;
      }
    }
    touch(thread, e, at_begin);
  }
}

// Up to the innermost function that the two stacks share everything is still running.
void SyncHider::follow_stack(Thread& thread, EventId id, StackId stack, const Tables& tables) {
  if (stack == thread.stack && (stack == kNoStack || !thread.frames.empty())) {
    return;
  }
  thread.stack = stack;
  std::vector<StackId> path;
  for (StackId at = stack; at != kNoStack; at = tables.stack(at).parent) {
    path.push_back(at);
  }
  std::reverse(path.begin(), path.end());
  std::size_t shared = 0;
  while (shared < path.size() && shared < thread.frames.size() && thread.frames[shared].stack == path[shared]) {
    ++shared;
  }
  while (thread.frames.size() > shared) {
    leave(thread);
  }
  for (; shared < path.size(); ++shared) {
    thread.frames.push_back({path[shared], tables.stack(path[shared]).call, id, false, {}});
  }
}

void SyncHider::leave(Thread& thread) {
  Frame frame = std::move(thread.frames.back());
  thread.frames.pop_back();
  std::sort(frame.touched.begin(), frame.touched.end(),
            [](const Bytes& a, const Bytes& b) { return a.first < b.first; });
  std::vector<Bytes> apart;
  for (const Bytes& bytes : frame.touched) {
    if (!apart.empty() && bytes.first <= apart.back().last) {
      apart.back().last = std::max(apart.back().last, bytes.last);
    } else {
      apart.push_back(bytes);
    }
  }
  if (!thread.frames.empty()) {
    std::vector<Bytes>& outer = thread.frames.back().touched;
    outer.insert(outer.end(), apart.begin(), apart.end());
  }
  if (frame.synchronises) {
    calls_.push_back({frame.first, thread.latest, frame.call, thread.over, std::move(apart)});
  }
}

void SyncHider::touch(Thread& thread, const Event& e, bool at_begin) {
  if (e.op == Op::kAlloc) {
    if (!at_begin) {  // there it is the stack of the thread, which is no block that pointers lead around in
      auto next = blocks_.upper_bound(e.object + (e.size - 1));
      while (next != blocks_.begin() && std::prev(next)->second >= e.object) {
        next = blocks_.erase(std::prev(next));
      }
      blocks_[e.object] = e.object + (e.size - 1);
    }
  } else if (thread.frames.empty()) {
    return;
  } else if (is_access(e.op) || e.op == Op::kFree) {
    thread.frames.back().touched.push_back(block_around(e));
  } else if (synchronises(e)) {
    thread.frames.back().touched.push_back({e.object, e.object});
  }
}

SyncHider::Bytes SyncHider::block_around(const Event& e) const {
  const Bytes own{e.object, e.object + (e.size - 1)};
  const auto next = blocks_.upper_bound(e.object);
  if (next == blocks_.begin() || std::prev(next)->second < own.last) {
    return own;
  }
  return {std::prev(next)->first, std::prev(next)->second};
}

void SyncHider::finish_scan() {
  for (Thread& thread : threads_) {
    while (!thread.frames.empty()) {
      leave(thread);
    }
  }
  // Inner runs were left first.
  std::stable_sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return a.last < b.last; });
  std::vector<std::size_t> inner_first(calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    inner_first[i] = i;
  }
  std::vector<std::size_t> outer_first(inner_first.rbegin(), inner_first.rend());
  std::stable_sort(outer_first.begin(), outer_first.end(),
                   [&](std::size_t a, std::size_t b) { return calls_[a].first < calls_[b].first; });
  std::vector<Call> calls;
  by_end_.resize(calls_.size());
  for (const std::size_t call : outer_first) {
    by_end_[call] = calls.size();
    calls.push_back(std::move(calls_[call]));
  }
  calls_ = std::move(calls);
}

void SyncHider::add_call(const Event& like, StackId stack, Op op, SiteId site, const std::vector<Bytes>& reach) {
  Event e;
  e.thread = like.thread;
  e.site = site;
  e.object = raw(site);
  e.op = op;
  if (op == Op::kCallBegin) {
    ++counts_.calls;
    counts_.ranges += reach.size();
    for (const Bytes& bytes : reach) {
      reaches_.push_back({EventId{written_ + events_.size()}, bytes.first, bytes.last - bytes.first + 1});
    }
  }
  events_.push_back(e);
  if (with_values_) {
    values_.emplace_back();
  }
  if (with_stacks_) {
    stacks_.push_back(stack);
  }
}

void SyncHider::copy_event(const Batch& batch, std::size_t i) {
  for (; next_reach_ < batch.reaches.size() && batch.reaches[next_reach_].call == batch.id(i); ++next_reach_) {
    reaches_.push_back(batch.reaches[next_reach_]);
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

Batch SyncHider::rewrite(const Batch& batch) {
  with_values_ = !batch.values.empty();
  with_stacks_ = !batch.stacks.empty();
  next_branch_ = next_reach_ = 0;
  written_ += events_.size();
  events_.clear();
  values_.clear();
  stacks_.clear();
  branches_.clear();
  reaches_.clear();
  const auto copy_branches = [&](EventId before) {
    for (; next_branch_ < batch.branches.size() && batch.branches[next_branch_].before <= before; ++next_branch_) {
      branches_.push_back(batch.branches[next_branch_]);
      branches_.back().before = EventId{written_ + events_.size()};
    }
  };
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& e = batch.events[i];
    const EventId id = batch.id(i);
    copy_branches(id);
    for (; next_call_ < calls_.size() && calls_[next_call_].first == id; ++next_call_) {
      add_call(e, batch.stack(i), Op::kCallBegin, calls_[next_call_].site, calls_[next_call_].reach);
    }
    if (next_alone_ < alone_.size() && alone_[next_alone_] == id) {
      ++next_alone_;
      add_call(e, batch.stack(i), Op::kCallBegin, e.site, {{e.object, e.object}});
      add_call(e, batch.stack(i), Op::kCallEnd, e.site, {});
    }
    if (synchronises(e)) {
      ++counts_.dropped;
    } else {
      copy_event(batch, i);
    }
    for (; next_end_ < by_end_.size() && calls_[by_end_[next_end_]].last == id; ++next_end_) {
      if (const Call& call = calls_[by_end_[next_end_]]; !call.open) {
        add_call(e, batch.stack(i), Op::kCallEnd, call.site, {});
      }
    }
  }
  copy_branches(batch.id(batch.events.size()));
  counts_.read += batch.events.size();
  return {EventId{written_}, events_, values_, stacks_, branches_, reaches_};
}

}  // namespace sooth
