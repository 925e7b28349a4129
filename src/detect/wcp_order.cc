#include "detect/wcp_order.h"

#include <cstdio>

#include "detect/needed_sections.h"

namespace sooth {

void WcpOrder::start(ThreadId id, Thread& fresh) {
  if (const Resting* resting = resting_.find(raw(id))) {
    fresh.clocks = {resting->hb.unpack(), resting->wcp.unpack(), resting->must.unpack()};
    resting_.erase(raw(id));
    return;
  }
  fresh.began = 1;
  fresh.clocks.hb.set(id, 1);
  fresh.clocks.must.set(id, 1);
  fresh.clocks.wcp.set(id, 0);  // not empty, for WcpKnowledge
}

void WcpOrder::rest(ThreadId id) {
  if (raw(id) < threads_.size() && !threads_[raw(id)].clocks.must.empty()) {
    WcpClocks& clocks = threads_[raw(id)].clocks;
    resting_[raw(id)] = {PackedClock(clocks.hb), PackedClock(clocks.wcp), PackedClock(clocks.must)};
    clocks = {};
  }
}

void WcpOrder::receive(ThreadId id, const WcpMessage& message) {
  Thread& receiver = thread(id);
  receiver.clocks.join(message.clocks);
  const bool in_section = !receiver.open.empty();
  for (const WcpMessage::Sender& sender : message.senders) {
    if (sender.life.thread != id || sender.life.began != receiver.began) {
      receiver.clocks.wcp.join(in_section ? sender.hb : sender.hb_in_section);
    }
  }
}

// Sections that a thread of the number left open are never closed.
void WcpOrder::restart(ThreadId id) {
  Thread& fresh = thread(id);
  fresh.began = fresh.clocks.must[id];
  free_sections_.insert(free_sections_.end(), fresh.open.begin(), fresh.open.end());
  fresh.open.clear();
  locks_.restart(id);
}

std::uint32_t WcpOrder::open_section(const Event& e, Time acquired) {
  std::uint32_t number;
  if (free_sections_.empty()) {
    number = static_cast<std::uint32_t>(sections_.size());
    sections_.emplace_back();
  } else {
    number = free_sections_.back();
    free_sections_.pop_back();
  }
  Section& section = sections_[number];
  section.lock = e.object;
  section.shared = is_shared(e);
  section.acquired = acquired;
  section.touched_count = 0;
  return number;
}

void WcpOrder::acquire(const Event& e) {
  Thread& own = thread(e.thread);
  if (!locks_.acquire(e)) {
    return;
  }
  if (const Lock* lock = lock_states_.find(e.object)) {
    if (lock->releaser != e.thread) {
      own.clocks.hb.join(pool_[lock->exclusive_hb]);
      own.clocks.wcp.join(lock->exclusive_wcp);
    }
    if (!is_shared(e)) {
      own.clocks.hb.join(lock->shared_hb);
      own.clocks.wcp.join(lock->shared_wcp);
    }
  }
  own.open.push_back(open_section(e, own.clocks.must[e.thread]));
}

void WcpOrder::release(const Event& e) {
  Thread& own = thread(e.thread);
  if (!locks_.release(e)) {
    return;
  }
  const auto it = std::find_if(own.open.rbegin(), own.open.rend(),
                               [&](std::uint32_t number) { return sections_[number].lock == e.object; });
  const std::uint32_t number = *it;
  own.open.erase(std::next(it).base());
  Lock& lock = lock_states_[e.object];
  apply_rule_b(e.thread, sections_[number], lock);
  close_section(e.thread, sections_[number], lock);
  free_sections_.push_back(number);
  advance(e.thread);
  if (stored_ >= forget_at_) [[unlikely]] {
    forget_sections();
  }
}

// Rule (b): an earlier section whose acquire precedes this release is released before it, unless both are shared.
void WcpOrder::apply_rule_b(ThreadId id, const Section& section, Lock& lock) {
  VectorClock& wcp = threads_[raw(id)].clocks.wcp;
  const ThreadLife own = life_of(id);
  lock.exclusive_sections.pass(own, wcp, pool_);
  if (!section.shared && !lock.shared_sections.empty()) {
    // What one queue teaches may let another pass.
    for (bool more = true; more;) {
      more = false;
      for (auto& [sharer, queue] : lock.shared_sections) {
        more = queue.pass(own, wcp, pool_) || more;
      }
      more = lock.exclusive_sections.pass(own, wcp, pool_) || more;
    }
  }
}

void WcpOrder::close_section(ThreadId id, const Section& section, Lock& lock) {
  const WcpClocks& own = threads_[raw(id)].clocks;
  const ThreadLife life = life_of(id);
  const Time now = own.must[id];
  const ClockId said = pool_.add(own.hb);
  for (std::uint32_t i = 0; i < section.touched_count; ++i) {
    const Touched& touched = section.touched[i];
    if (guards_[touched.guard].generation != touched.generation) {
      continue;  // the memory was allocated again meanwhile
    }
    for (unsigned kinds = touched.kinds; kinds != 0; kinds &= kinds - 1) {
      const auto kind = AccessKind(std::countr_zero(kinds));
      if (section.shared) {
        guards_.close_shared(touched.guard, kind, life, now, said);
      } else {
        guards_.close_exclusive(touched.guard, kind, life, now, said);
      }
    }
  }
  if (section.shared) {
    lock.shared_hb.join(own.hb);
    lock.shared_wcp.join(own.wcp);
    if (section.acquired != now) {
      auto it = std::find_if(lock.shared_sections.begin(), lock.shared_sections.end(),
                             [&](const auto& entry) { return entry.first == id; });
      if (it == lock.shared_sections.end()) {
        it = lock.shared_sections.emplace(it, id, SectionQueue());
      }
      push(it->second, {id, section.acquired, now, said}, own.hb);
    }
  } else {
    pool_.hold(said);
    pool_.drop(std::exchange(lock.exclusive_hb, said));
    lock.exclusive_wcp = own.wcp;
    lock.releaser = id;
    lock.shared_hb.clear();  // the section came after them all
    lock.shared_wcp.clear();
    if (section.acquired != now) {
      push(lock.exclusive_sections, {id, section.acquired, now, said}, own.hb);
    }
  }
  pool_.drop(said);
}

// Sections may stay for long where many threads are never known to be over, and then each said much.
void WcpOrder::push(SectionQueue& queue, SectionQueue::Section section, const VectorClock& said) {
  if (said.times().size() >= packed_from_) {
    section.said = pool_.add_packed(said);
  } else {
    pool_.hold(section.said);
  }
  queue.push(section);
  most_stored_ = std::max(most_stored_, ++stored_);
}

// The clocks that can become part of a P are P and H of threads, locks and messages, and what releases said to rule (a).
// M never does.
void WcpOrder::forget_sections() {
  std::vector<SectionQueue*> queues;
  lock_states_.for_each([&](std::uint64_t, Lock& lock) {
    queues.push_back(&lock.exclusive_sections);
    for (auto& [sharer, queue] : lock.shared_sections) {
      queues.push_back(&queue);
    }
  });
  mark_needed(queues);
  stored_ = 0;
  for (SectionQueue* queue : queues) {
    queue->forget(pool_);
    stored_ += queue->size();
  }
  // Again when the work is in proportion to what was pushed meanwhile.
  forget_at_ = trim_at_ == 1 ? 1 : stored_ + std::max({std::uint64_t{trim_at_}, stored_, sweep_work_ / 32});
}

void WcpOrder::mark_needed(const std::vector<SectionQueue*>& queues) {
  NeededSections needed(pool_);
  std::vector<std::uint32_t> held_by_queues(pool_.end());
  for (SectionQueue* queue : queues) {
    queue->for_each([&](SectionQueue::Section& section) {
      needed.add(section);
      ++held_by_queues[raw(section.said)];
    });
  }
  needed.prepare();
  for (const Thread& each : threads_) {
    needed.need(each.clocks.hb);
    needed.need(each.clocks.wcp);
  }
  resting_.for_each([&](std::uint64_t, const Resting& each) {
    needed.need(each.hb.unpack());
    needed.need(each.wcp.unpack());
  });
  lock_states_.for_each([&](std::uint64_t, const Lock& lock) {
    needed.need(lock.exclusive_wcp);
    needed.need(lock.shared_hb);
    needed.need(lock.shared_wcp);
  });
  must_order_.for_each_message([&](const WcpMessage& message) {
    needed.need(message.clocks.wcp);
    for (const WcpMessage::Sender& sender : message.senders) {
      needed.need(sender.hb);
      needed.need(sender.hb_in_section);
    }
  });
  pool_.for_each([&](ClockId id, const VectorClock& clock, std::uint32_t holders) {
    if (holders > held_by_queues[raw(id)]) {
      needed.need(clock);
    }
  });
  sweep_work_ = needed.work();
}

// Rule (a): the releases of other threads' sections that conflict with the access, under one of the locks held.
void WcpOrder::apply_rule_a(std::uint32_t number, GuardId guard_id, ThreadId id, AccessKind kind) {
  const Guard& guard = guards_[guard_id];
  VectorClock& wcp = threads_[raw(id)].clocks.wcp;
  const ThreadLife own = life_of(id);
  for (unsigned kinds = guard.kinds & conflicting_kinds(kind); kinds != 0; kinds &= kinds - 1) {
    const auto earlier = AccessKind(std::countr_zero(kinds));
    learn(wcp, own, guard.latest_of_others(earlier, own));
    if (!sections_[number].shared) {
      guards_.for_each_shared(guard_id, earlier, [&](const ClosedSection& section) { learn(wcp, own, section); });
    }
  }
}

// The new cell has the same sections behind it, also those that are still open.
void WcpOrder::on_split_cell(CellId from, CellId to) {
  guards_.copy_cell(from, to, [&](GuardId original, GuardId copy) {
    for (const Thread& each : threads_) {
      for (const std::uint32_t number : each.open) {
        Section& section = sections_[number];
        section.touched.resize(section.touched_count);
        for (std::size_t i = 0; i < section.touched_count; ++i) {
          const Touched each_touched = section.touched[i];
          if (each_touched.guard == original && each_touched.generation == guards_[original].generation) {
            section.touched.push_back({copy, guards_[copy].generation, each_touched.kinds});
          }
        }
        section.touched_count = static_cast<std::uint32_t>(section.touched.size());
      }
    }
  });
}

std::vector<std::pair<std::string, std::string>> WcpOrder::stats(std::uint64_t events) const {
  std::vector<std::pair<std::string, std::string>> rows;
  // The paper counts the entries of both queues, Acq and Rel.
  const double share = events == 0 ? 0 : 100.0 * 2 * static_cast<double>(most_stored_) / static_cast<double>(events);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%%", share);
  rows.emplace_back("largest sum of queue lengths, of events", text);
  rows.emplace_back("sections kept at most", std::to_string(most_stored_));
  rows.emplace_back("sections kept at the end", std::to_string(stored_));
  rows.emplace_back("lock and variable pairs", std::to_string(guards_.size()));
  return rows;
}

}  // namespace sooth
