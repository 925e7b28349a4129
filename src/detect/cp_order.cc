#include "detect/cp_order.h"

#include <algorithm>

namespace sooth {

CpOrder::Index CpOrder::add_event(ThreadId thread) {
  if (raw(thread) >= local_.size()) {
    local_.resize(raw(thread) + 1);
  }
  std::uint32_t& number = local_[raw(thread)];
  if (number == 0) {
    latest_.push_back(kNone);
    number = static_cast<std::uint32_t>(latest_.size());
    thread_count_ = latest_.size();
  }
  Index& latest = latest_[number - 1];
  const std::uint32_t position = latest == kNone ? 1 : nodes_[latest].position + 1;
  nodes_.push_back({number - 1, position, latest});
  latest = last();
  return latest;
}

void CpOrder::add_must_edge(Index from, bool causal) {
  edges_.push_back({from, last(), causal ? EdgeKind::kCausalMust : EdgeKind::kMust});
}

CpOrder::Lock::ByThread& CpOrder::sections_of(Lock& lock, std::uint32_t thread) {
  if (thread >= lock.threads.size()) {
    lock.threads.resize(thread + 1);
  }
  return lock.threads[thread];
}

void CpOrder::open_section(std::uint64_t lock_id, bool exclusive) {
  Lock& lock = locks_[lock_id];
  const std::uint32_t thread = nodes_[last()].thread;
  const auto section = static_cast<std::uint32_t>(sections_.size());
  sections_.push_back({lock_id, thread, last(), kNone, exclusive, {}});
  Lock::ByThread& mine = sections_of(lock, thread);
  mine.all.push_back(section);
  if (lock.exclusive_release != kNone) {
    edges_.push_back({lock.exclusive_release, last(), EdgeKind::kLock});
  }
  if (exclusive) {
    mine.exclusive.push_back(section);
    for (const Index release : lock.shared_releases) {
      edges_.push_back({release, last(), EdgeKind::kLock});
    }
    lock.shared_releases.clear();  // known to whoever comes after this section
  }
}

void CpOrder::close_section(std::uint64_t lock_id) {
  Lock& lock = locks_.at(lock_id);
  Section& section = sections_[sections_of(lock, nodes_[last()].thread).all.back()];
  section.release = last();
  if (section.exclusive) {
    lock.exclusive_release = last();
  } else {
    lock.shared_releases.push_back(last());
  }
}

std::uint32_t CpOrder::section_at(const std::vector<std::uint32_t>& list, Index event) const {
  const auto later = std::upper_bound(list.begin(), list.end(), event, [this](Index e, std::uint32_t section) {
    return e < sections_[section].acquire;
  });
  return *(later - 1);
}

bool CpOrder::raise(Section& section, std::uint32_t thread, Index release) {
  if (thread >= section.after.size()) {
    section.after.resize(thread + 1);
  }
  if (section.after[thread] > release) {
    return false;
  }
  section.after[thread] = release + 1;
  return true;
}

void CpOrder::add_conflict(std::uint64_t lock_id, Index first, Index second) {
  Lock& lock = locks_.at(lock_id);
  const std::uint32_t thread = nodes_[first].thread;
  const Section& earlier = sections_[section_at(lock.threads[thread].all, first)];
  Section& later = sections_[section_at(lock.threads[nodes_[second].thread].all, second)];
  raise(later, thread, earlier.release);
}

void CpOrder::join(Clocks& into, Index event, const Clocks& from, Index source) {
  std::uint32_t* mine = row(into, event);
  const std::uint32_t* theirs = row(from, source);
  for (std::size_t t = 0; t < thread_count_; ++t) {
    mine[t] = std::max(mine[t], theirs[t]);
  }
}

void CpOrder::close(Clocks& clocks, bool with_locks) {
  clocks.assign(nodes_.size() * thread_count_, 0);
  std::size_t edge = 0;
  for (Index i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].previous != kNone) {
      join(clocks, i, clocks, nodes_[i].previous);
    }
    for (; edge < edges_.size() && edges_[edge].to == i; ++edge) {
      if (with_locks || edges_[edge].kind != EdgeKind::kLock) {
        join(clocks, i, clocks, edges_[edge].from);
      }
    }
    row(clocks, i)[nodes_[i].thread] = nodes_[i].position;
  }
}

void CpOrder::sweep(Index from) {
  ++sweeps_;
  auto edge = std::lower_bound(edges_.begin(), edges_.end(), from, [](const Edge& e, Index to) { return e.to < to; });
  auto section = std::lower_bound(sections_.begin(), sections_.end(), from,
                                  [](const Section& s, Index acquire) { return s.acquire < acquire; });
  for (Index i = from; i < nodes_.size(); ++i) {
    if (nodes_[i].previous != kNone) {
      join(causal_, i, causal_, nodes_[i].previous);
    }
    for (; edge != edges_.end() && edge->to == i; ++edge) {
      join(causal_, i, causal_, edge->from);
      if (edge->kind == EdgeKind::kCausalMust) {
        join(causal_, i, happens_before_, edge->from);
      }
    }
    for (; section != sections_.end() && section->acquire == i; ++section) {
      for (const Index release : section->after) {
        if (release != 0) {
          join(causal_, i, happens_before_, release - 1);
        }
      }
    }
  }
}

CpOrder::Index CpOrder::end_of(const Section& section) const {
  return section.release != kNone ? section.release : latest_[section.thread];
}

bool CpOrder::apply_rule_b(Section& section) {
  const Lock& lock = locks_.at(section.lock);
  const std::uint32_t* known = row(causal_, end_of(section));
  bool changed = false;
  for (std::uint32_t t = 0; t < lock.threads.size(); ++t) {
    if (t == section.thread || known[t] == 0) {
      continue;
    }
    const std::vector<std::uint32_t>& list = section.exclusive ? lock.threads[t].all : lock.threads[t].exclusive;
    // Sections of which one is exclusive do not overlap: what is acquired before the end of this one is over before it.
    const auto opens_later = [this](std::uint32_t position, std::uint32_t other) {
      return position < nodes_[sections_[other].acquire].position;
    };
    const auto later = std::upper_bound(list.begin(), list.end(), known[t], opens_later);
    if (later != list.begin()) {
      changed |= raise(section, t, sections_[*(later - 1)].release);
    }
  }
  return changed;
}

CpOrder::Index CpOrder::apply_rule_b() {
  Index first = kNone;
  for (Section& section : sections_) {
    if (apply_rule_b(section)) {
      first = std::min(first, section.acquire);
    }
  }
  return first;
}

void CpOrder::solve() {
  close(must_, false);
  close(happens_before_, true);
  causal_.assign(nodes_.size() * thread_count_, 0);
  for (Index from = 0; from != kNone; from = apply_rule_b()) {
    sweep(from);
  }
}

bool CpOrder::unordered(Index first, Index second) const {
  const Node& node = nodes_[first];
  return node.position > std::max(row(causal_, second)[node.thread], row(must_, second)[node.thread]);
}

}  // namespace sooth
