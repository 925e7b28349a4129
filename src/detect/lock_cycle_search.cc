#include "detect/lock_cycle_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sooth {
namespace {

// Strongly connected components (Tarjan 1972) without recursion: locks may nest in long chains.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::uint32_t>>& edges)
      : edges_(edges), component_(edges.size()), order_(edges.size()), low_(edges.size()) {
    for (std::uint32_t node = 0; node < edges.size(); ++node) {
      if (order_[node] == 0) {
        visit(node);
      }
    }
  }

  // 0 for nodes on no cycle; nodes that share a cycle share a number.
  std::uint32_t of(std::uint32_t node) const { return component_[node]; }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t next_edge = 0;
  };

  void enter(std::uint32_t node) {
    order_[node] = low_[node] = ++entered_;
    stack_.push_back(node);
    frames_.push_back({node});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t node = frame.node;
      if (frame.next_edge < edges_[node].size()) {
        const std::uint32_t to = edges_[node][frame.next_edge++];
        if (order_[to] == 0) {
          enter(to);
        } else if (order_[to] != kDone) {
          low_[node] = std::min(low_[node], order_[to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        std::uint32_t& caller = low_[frames_.back().node];
        caller = std::min(caller, low_[node]);
      }
      if (low_[node] == order_[node]) {
        leave(node);
      }
    }
  }

  // A lock is never acquired while it is held, so a component of one node has no cycle.
  void leave(std::uint32_t root) {
    const std::uint32_t number = stack_.back() == root ? 0 : ++components_;
    for (std::uint32_t node = ~root; node != root;) {
      node = stack_.back();
      stack_.pop_back();
      component_[node] = number;
      order_[node] = kDone;
    }
  }

  static constexpr std::uint32_t kDone = ~0u;

  const std::vector<std::vector<std::uint32_t>>& edges_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> order_;  // of entering, from 1; kDone when its component is known
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> frames_;
  std::uint32_t entered_ = 0;
  std::uint32_t components_ = 0;
};

bool unordered(const LockMoment& a, const LockMoment& b) {
  return a.acquire.time > (*b.since)[a.acquire.event.thread] && b.acquire.time > (*a.since)[b.acquire.event.thread];
}

// A lock of both sets keeps the two apart: docs/semantics.md section 2. Both are sorted and short.
bool protect(const std::vector<LockMode>& a, const std::vector<LockMode>& b) {
  for (auto mine = a.begin(), theirs = b.begin(); mine != a.end() && theirs != b.end();) {
    if (mine->lock == theirs->lock && !(mine->shared && theirs->shared)) {
      return true;
    }
    (mine->lock < theirs->lock ? mine : theirs) += 1;
  }
  return false;
}

}  // namespace

LockCycleSearch::LockCycleSearch(const std::vector<CycleUse>& uses, const LockSetTable& lock_sets,
                                 const LockOrderLimits& limits)
    : lock_sets_(lock_sets), limits_(limits) {
  add_kinds(uses);
  find_components();
  index_holders();
}

void LockCycleSearch::add_kinds(const std::vector<CycleUse>& uses) {
  std::map<std::tuple<std::uint64_t, bool, LockSetId, SiteId>, KindIndex> index;
  std::set<ThreadId> threads;
  for (const CycleUse& use : uses) {
    threads.insert(use.thread);
    const AccessRecord& acquire = use.moments.front().acquire;
    const Event& e = acquire.event;
    const auto [it, added] =
        index.try_emplace({e.object, is_shared(e), acquire.locks, e.site}, static_cast<KindIndex>(kinds_.size()));
    if (added) {
      kinds_.push_back({e.object, is_shared(e), acquire.locks, {}, false});
    }
    kinds_[it->second].uses.push_back(&use);
  }
  thread_count_ = threads.size();
}

void LockCycleSearch::find_components() {
  std::unordered_map<std::uint64_t, std::uint32_t> nodes;
  std::vector<std::uint64_t> locks;
  std::vector<std::vector<std::uint32_t>> edges;
  const auto node_of = [&](std::uint64_t lock) {
    const auto [it, added] = nodes.try_emplace(lock, static_cast<std::uint32_t>(locks.size()));
    if (added) {
      locks.push_back(lock);
      edges.emplace_back();
    }
    return it->second;
  };
  for (const Kind& kind : kinds_) {
    const std::uint32_t wanted = node_of(kind.lock);
    for (const LockMode& held : lock_sets_.locks(kind.held)) {
      edges[node_of(held.lock)].push_back(wanted);
    }
  }
  const Components components(edges);
  for (std::uint32_t node = 0; node < locks.size(); ++node) {
    if (components.of(node) != 0) {
      component_.emplace(locks[node], components.of(node));
    }
  }
}

void LockCycleSearch::index_holders() {
  for (KindIndex i = 0; i < kinds_.size(); ++i) {
    const auto wanted = component_.find(kinds_[i].lock);
    if (wanted == component_.end()) {
      continue;
    }
    for (const LockMode& held : lock_sets_.locks(kinds_[i].held)) {
      const auto here = component_.find(held.lock);
      if (here != component_.end() && here->second == wanted->second) {
        holders_[held.lock].push_back(i);
        kinds_[i].on_cycle = true;
      }
    }
  }
}

void LockCycleSearch::run() {
  constexpr std::size_t kTsanLongest = 10;
  const std::size_t longest = limits_.all_orders ? std::min(kinds_.size(), kTsanLongest) : thread_count_;
  for (length_ = 2; length_ <= longest && !out_of_steps(); ++length_) {
    if (length_ > limits_.max_threads) {
      cut_ = true;
      return;
    }
    longer_paths_ = false;
    for (KindIndex start = 0; start < kinds_.size() && !out_of_steps(); ++start) {
      if (kinds_[start].on_cycle) {
        path_ = {start};
        chosen_ = {&kinds_[start].uses.front()->moments.front()};
        extend();
      }
    }
    if (!longer_paths_ || out_of_steps()) {
      return;
    }
  }
}

bool LockCycleSearch::waits_for(const Kind& waiting, const Kind& other) const {
  const std::vector<LockMode>& held = lock_sets_.locks(other.held);
  return std::any_of(held.begin(), held.end(), [&](const LockMode& mode) {
    return mode.lock == waiting.lock && !(mode.shared && waiting.shared);
  });
}

// Whether the path, whose last kind waits for `next`, goes on with it: no lock keeps it apart from the others, and no
// one but the last waits for it, nor it for anyone but the first. With such a shortcut there is a shorter cycle.
bool LockCycleSearch::may_follow(const Kind& next) const {
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const Kind& kind = kinds_[path_[i]];
    if ((!limits_.all_orders && protect(lock_sets_.locks(kind.held), lock_sets_.locks(next.held))) ||
        (i + 1 < path_.size() && waits_for(kind, next)) || (i > 0 && waits_for(next, kind))) {
      return false;
    }
  }
  return true;
}

// A cycle is found from its first kind. Shorter cycles than length_ were found before; they end a path.
void LockCycleSearch::extend() {
  const Kind& last = kinds_[path_.back()];
  const auto holders = holders_.find(last.lock);
  if (holders == holders_.end()) {
    return;
  }
  const std::vector<const LockMoment*> chosen = chosen_;
  const bool at_end = path_.size() + 1 == length_;
  const std::vector<KindIndex>& list = holders->second;
  for (auto it = std::upper_bound(list.begin(), list.end(), path_.front()); it != list.end(); ++it) {
    if (++steps_ >= limits_.max_steps) {
      return;
    }
    const Kind& next = kinds_[*it];
    const bool closes = waits_for(next, kinds_[path_.front()]);
    if ((closes && !at_end) || !waits_for(last, next) || !may_follow(next)) {
      continue;
    }
    path_.push_back(*it);
    if (choose_for_last()) {
      if (closes) {
        note();
      } else if (at_end) {
        longer_paths_ = true;
      } else {
        extend();
      }
    }
    path_.pop_back();
    chosen_ = chosen;
  }
}

// Chooses for the kind that was added to the path, if need be anew for the others too.
bool LockCycleSearch::choose_for_last() {
  for (const CycleUse* use : kinds_[path_.back()].uses) {
    for (const LockMoment& moment : use->moments) {
      if (++steps_ >= limits_.max_steps) {
        return false;
      }
      if (fits(moment)) {
        chosen_.push_back(&moment);
        return true;
      }
    }
  }
  chosen_.clear();
  return choose(0);
}

// Threads and moments for the kinds of the path from `position` on.
bool LockCycleSearch::choose(std::size_t position) {
  if (position == path_.size()) {
    return true;
  }
  for (const CycleUse* use : kinds_[path_[position]].uses) {
    for (const LockMoment& moment : use->moments) {
      if (++steps_ >= limits_.max_steps) {
        return false;
      }
      if (fits(moment)) {
        chosen_.push_back(&moment);
        if (choose(position + 1)) {
          return true;
        }
        chosen_.pop_back();
      }
    }
  }
  return false;
}

bool LockCycleSearch::fits(const LockMoment& moment) const {
  return limits_.all_orders || std::all_of(chosen_.begin(), chosen_.end(), [&](const LockMoment* other) {
           return other->acquire.event.thread != moment.acquire.event.thread && unordered(*other, moment);
         });
}

void LockCycleSearch::note() {
  const auto first = std::min_element(chosen_.begin(), chosen_.end(), [](const LockMoment* a, const LockMoment* b) {
    return a->acquire.id < b->acquire.id;
  });
  std::rotate(chosen_.begin(), first, chosen_.end());
  DeadlockCandidate candidate;
  for (const LockMoment* moment : chosen_) {
    candidate.acquires.push_back(moment->acquire);
  }
  const auto [number, added] = index_.add(candidate, found_.size());
  if (added) {
    found_.push_back(std::move(candidate));
  } else {
    ++found_[number].cycles;
  }
}

}  // namespace sooth
