#include "oracle/must_order.h"

#include <deque>
#include <map>
#include <set>

namespace sooth::oracle {

Relation::Relation(std::size_t size) : size_(size), words_((size + 63) / 64), bits_(size * words_) {}

void Relation::add(Index from, Index to) { bits_[from * words_ + to / 64] |= std::uint64_t{1} << (to % 64); }

void Relation::close() {
  for (Index middle = 0; middle < size_; ++middle) {
    for (Index from = 0; from < size_; ++from) {
      if (ordered(from, middle)) {
        for (std::size_t w = 0; w < words_; ++w) {
          bits_[from * words_ + w] |= bits_[middle * words_ + w];
        }
      }
    }
  }
}

void Relation::include(const Relation& other) {
  for (std::size_t w = 0; w < bits_.size(); ++w) {
    bits_[w] |= other.bits_[w];
  }
}

Relation compose(const Relation& first, const Relation& second) {
  Relation result(first.size_);
  for (Index a = 0; a < first.size_; ++a) {
    for (Index b = 0; b < first.size_; ++b) {
      if (first.ordered(a, b)) {
        for (std::size_t w = 0; w < first.words_; ++w) {
          result.bits_[a * first.words_ + w] |= second.bits_[b * first.words_ + w];
        }
      }
    }
  }
  return result;
}

std::string_view edge_kind_name(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kProgram: return "program order";
    case EdgeKind::kFork: return "fork";
    case EdgeKind::kJoin: return "join";
    case EdgeKind::kSignal: return "notify -> wait";
    case EdgeKind::kBarrier: return "barrier";
    case EdgeKind::kSemaphore: return "semaphore";
    case EdgeKind::kMessage: return "happens before -> after";
    case EdgeKind::kAtomic: return "atomic release -> acquire";
    case EdgeKind::kFence: return "fence";
    case EdgeKind::kExclusiveRelease: return "exclusive release -> acquire";
    case EdgeKind::kSharedRelease: return "shared release -> exclusive acquire";
  }
  return "";
}

std::vector<Section> sections_of(std::span<const Event> trace) {
  struct Open {
    std::size_t section;
    int depth;
  };
  std::vector<Section> sections;
  std::map<std::pair<ThreadId, std::uint64_t>, Open> open;
  for (Index i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    const std::pair key{e.thread, e.object};
    if (e.op == Op::kAcquire) {
      const auto [it, outermost] = open.try_emplace(key, Open{sections.size(), 0});
      if (outermost) {
        sections.push_back({e.object, e.thread, i, std::nullopt, !is_shared(e), (e.flags & (kTry | kTimed)) == 0});
      }
      ++it->second.depth;
    } else if (e.op == Op::kRelease) {
      const auto it = open.find(key);
      if (--it->second.depth == 0) {
        sections[it->second.section].release = i;
        open.erase(it);
      }
    }
  }
  return sections;
}

bool keeps_out(const Section& section, const Event& failed) {
  return section.lock == failed.object && (section.exclusive || !is_shared(failed));
}

std::optional<Section> holder_found_by(std::span<const Event> trace, Index event) {
  std::optional<Section> first;
  for (const Section& section : sections_of(trace)) {
    const bool held = section.acquire < event && (!section.release || event < *section.release);
    if (trace[event].op != Op::kAcquireFailed || !held || !keeps_out(section, trace[event])) {
      continue;
    }
    if (section.thread == trace[event].thread) {
      return std::nullopt;
    }
    first = first ? first : section;
  }
  return first;
}

std::optional<Index> begin_of_wait(std::span<const Event> trace, Index wait) {
  for (Index i = wait; i-- > 0;) {
    if (trace[i].op == Op::kRelease && trace[i].thread == trace[wait].thread) {
      return i;
    }
  }
  return std::nullopt;
}

std::vector<std::optional<Index>> notifies_taken(std::span<const Event> trace) {
  std::vector<std::optional<Index>> taken(trace.size());
  std::set<Index> gone;
  for (Index wait = 0; wait < trace.size(); ++wait) {
    if (trace[wait].op != Op::kCondWait || (trace[wait].flags & kTimed) != 0) {
      continue;
    }
    const std::optional<Index> begin = begin_of_wait(trace, wait);
    for (const bool everybody : {true, false}) {
      for (Index n = begin.value_or(0); n < wait && !taken[wait]; ++n) {
        const bool fits = trace[n].op == Op::kCondNotify && trace[n].object == trace[wait].object;
        if (fits && ((trace[n].flags & kEverybody) != 0) == everybody && !gone.contains(n)) {
          taken[wait] = n;
          if (!everybody) {
            gone.insert(n);
          }
        }
      }
    }
  }
  return taken;
}

bool contains(const Section& section, std::span<const Event> trace, Index event) {
  return trace[event].thread == section.thread && section.acquire <= event &&
         (!section.release || event <= *section.release);
}

namespace {

using Trace = std::span<const Event>;

void add_program_order(Trace trace, std::vector<Edge>& edges) {
  std::map<ThreadId, Index> last;
  for (Index i = 0; i < trace.size(); ++i) {
    if (const auto it = last.find(trace[i].thread); it != last.end()) {
      edges.push_back({it->second, i, EdgeKind::kProgram});
    }
    last[trace[i].thread] = i;
  }
}

void add_forks_and_joins(Trace trace, std::vector<Edge>& edges) {
  for (Index i = 0; i < trace.size(); ++i) {
    const auto of_child = [&](Index j) { return raw(trace[j].thread) == trace[i].object; };
    if (trace[i].op == Op::kFork) {
      for (Index j = i + 1; j < trace.size(); ++j) {
        if (of_child(j)) {
          edges.push_back({i, j, EdgeKind::kFork});
          break;
        }
      }
    } else if (trace[i].op == Op::kJoin) {
      // A thread without events ran all the same: its fork stands for it.
      const auto forks_child = [&](Index j) { return trace[j].op == Op::kFork && trace[j].object == trace[i].object; };
      for (Index j = i; j-- > 0;) {
        if (of_child(j) || forks_child(j)) {
          edges.push_back({j, i, EdgeKind::kJoin});
          break;
        }
      }
    }
  }
}

void add_signals_and_messages(Trace trace, std::vector<Edge>& edges) {
  for (Index i = 0; i < trace.size(); ++i) {
    for (Index j = i; j-- > 0;) {
      if (trace[i].object != trace[j].object) {
        continue;
      }
      if (trace[i].op == Op::kHappensAfter && trace[j].op == Op::kHappensBefore) {
        edges.push_back({j, i, EdgeKind::kMessage});
      }
      if (trace[i].op == Op::kWait && trace[j].op == Op::kNotify) {
        edges.push_back({j, i, EdgeKind::kSignal});
        break;  // the latest one only
      }
    }
  }
}

void add_semaphores(Trace trace, std::vector<Edge>& edges) {
  std::map<std::uint64_t, std::deque<Index>> posts;
  for (Index i = 0; i < trace.size(); ++i) {
    if (trace[i].op == Op::kSemPost) {
      posts[trace[i].object].push_back(i);
    } else if (trace[i].op == Op::kSemWait) {
      std::deque<Index>& queue = posts[trace[i].object];
      if (!queue.empty()) {
        edges.push_back({queue.front(), i, EdgeKind::kSemaphore});
        queue.pop_front();
      }
    }
  }
}

struct Round {
  std::vector<Index> arrivals;
  std::set<ThreadId> left;
  bool open = true;
};

struct Barrier {
  std::vector<Round> rounds;
  std::map<ThreadId, std::size_t> latest;  // the round of the thread's latest arrival
};

void add_barriers(Trace trace, std::vector<Edge>& edges) {
  std::map<std::uint64_t, Barrier> barriers;
  for (Index i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    if (e.op == Op::kBarrierArrive) {
      Barrier& barrier = barriers[e.object];
      if (barrier.rounds.empty() || !barrier.rounds.back().open) {
        barrier.rounds.emplace_back();
      }
      barrier.rounds.back().arrivals.push_back(i);
      barrier.latest[e.thread] = barrier.rounds.size() - 1;
    } else if (e.op == Op::kBarrierLeave) {
      Barrier& barrier = barriers[e.object];
      if (barrier.rounds.empty()) {
        continue;
      }
      const auto own = barrier.latest.find(e.thread);
      const bool member = own != barrier.latest.end() && !barrier.rounds[own->second].left.contains(e.thread);
      Round& round = member ? barrier.rounds[own->second] : barrier.rounds.back();
      round.open = false;
      round.left.insert(e.thread);
      for (Index arrival : round.arrivals) {
        edges.push_back({arrival, i, EdgeKind::kBarrier});
      }
    }
  }
}

// The latest earlier atomic store or rmw of the address that no alloc has made another variable since.
std::optional<Index> latest_store(Trace trace, Index before, std::uint64_t address) {
  for (Index j = before; j-- > 0;) {
    const Event& e = trace[j];
    if (e.op == Op::kAlloc && address >= e.object && address - e.object < e.size) {
      return std::nullopt;
    }
    if ((e.op == Op::kAtomicStore || e.op == Op::kAtomicRmw) && e.object == address) {
      return j;
    }
  }
  return std::nullopt;
}

// What the store releases: itself or, when it is too weak, the latest release fence before it in its thread.
std::optional<Index> released_by(Trace trace, Index store) {
  if (releases(trace[store].order)) {
    return store;
  }
  for (Index j = store; j-- > 0;) {
    if (trace[j].op == Op::kFence && trace[j].thread == trace[store].thread && releases(trace[j].order)) {
      return j;
    }
  }
  return std::nullopt;
}

// Where the load receives: itself or, when it is too weak, the next acquire fence in its thread.
std::optional<Index> received_at(Trace trace, Index load) {
  if (acquires(trace[load].order)) {
    return load;
  }
  for (Index j = load + 1; j < trace.size(); ++j) {
    if (trace[j].op == Op::kFence && trace[j].thread == trace[load].thread && acquires(trace[j].order)) {
      return j;
    }
  }
  return std::nullopt;
}

void add_atomics(Trace trace, std::vector<Edge>& edges) {
  for (Index load = 0; load < trace.size(); ++load) {
    if (trace[load].op != Op::kAtomicLoad && trace[load].op != Op::kAtomicRmw) {
      continue;
    }
    const std::optional<Index> to = received_at(trace, load);
    if (!to) {
      continue;
    }
    // Back along the release sequences that the seen store belongs to: rmws continue them, a store begins one.
    std::optional<Index> store = latest_store(trace, load, trace[load].object);
    while (store) {
      if (const std::optional<Index> from = released_by(trace, *store)) {
        const bool fenced = *from != *store || *to != load;
        edges.push_back({*from, *to, fenced ? EdgeKind::kFence : EdgeKind::kAtomic});
      }
      store = trace[*store].op == Op::kAtomicRmw ? latest_store(trace, *store, trace[load].object) : std::nullopt;
    }
  }
}

}  // namespace

std::vector<Edge> must_edges(Trace trace) {
  std::vector<Edge> edges;
  add_program_order(trace, edges);
  add_forks_and_joins(trace, edges);
  add_signals_and_messages(trace, edges);
  add_semaphores(trace, edges);
  add_barriers(trace, edges);
  add_atomics(trace, edges);
  return edges;
}

std::vector<Edge> hard_edges(Trace trace) {
  std::vector<Edge> edges = must_edges(trace);
  const std::vector<bool> counted = counted_by_semaphores(trace);
  std::erase_if(edges, [&](const Edge& edge) {
    return edge.kind == EdgeKind::kAtomic || edge.kind == EdgeKind::kFence ||
           (edge.kind == EdgeKind::kSemaphore && counted[edge.to]);
  });
  return edges;
}

std::vector<bool> counted_by_semaphores(Trace trace) {
  std::vector<bool> counted(trace.size());
  const auto is_operation = [&](Index i) { return trace[i].op == Op::kSemPost || trace[i].op == Op::kSemWait; };
  for (Index i = 0; i < trace.size(); ++i) {
    bool used = false, renewed = false;
    for (Index j = 0; j < i && is_operation(i); ++j) {
      used = used || (is_operation(j) && trace[j].object == trace[i].object);
      renewed = renewed || (used && trace[j].op == Op::kAlloc && trace[i].object >= trace[j].object &&
                            trace[i].object - trace[j].object < trace[j].size);
    }
    counted[i] = is_operation(i) && !renewed;
  }
  return counted;
}

std::map<std::uint64_t, std::size_t> first_counts(Trace trace) {
  const std::vector<bool> counted = counted_by_semaphores(trace);
  std::map<std::uint64_t, std::size_t> first, now;
  for (Index i = 0; i < trace.size(); ++i) {
    if (counted[i] && trace[i].op == Op::kSemPost) {
      ++now[trace[i].object];
    } else if (counted[i]) {
      std::size_t& count = now[trace[i].object];
      first[trace[i].object] += count == 0 ? 1 : 0;
      count -= count == 0 ? 0 : 1;
    }
  }
  return first;
}

std::vector<Edge> lock_edges(Trace trace) {
  std::vector<Edge> edges;
  const std::vector<Section> sections = sections_of(trace);
  for (const Section& earlier : sections) {
    for (const Section& later : sections) {
      if (earlier.lock == later.lock && earlier.release && *earlier.release < later.acquire &&
          (earlier.exclusive || later.exclusive)) {
        edges.push_back({*earlier.release, later.acquire,
                         earlier.exclusive ? EdgeKind::kExclusiveRelease : EdgeKind::kSharedRelease});
      }
    }
  }
  return edges;
}

Relation closure(std::size_t size, std::span<const Edge> edges) {
  Relation relation(size);
  for (const Edge& edge : edges) {
    relation.add(edge.from, edge.to);
  }
  relation.close();
  return relation;
}

Relation must_order(Trace trace) { return closure(trace.size(), must_edges(trace)); }

Relation hard_order(Trace trace) { return closure(trace.size(), hard_edges(trace)); }

Relation happens_before(Trace trace) {
  std::vector<Edge> edges = must_edges(trace);
  const std::vector<Edge> locks = lock_edges(trace);
  edges.insert(edges.end(), locks.begin(), locks.end());
  return closure(trace.size(), edges);
}

}  // namespace sooth::oracle
