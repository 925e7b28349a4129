#include "oracle/sync_preserving.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sooth::oracle {

SyncPreservingClosures::SyncPreservingClosures(std::span<const Event> trace, bool hard)
    : must_(hard ? hard_order(trace) : must_order(trace)), sections_(sections_of(trace)), seen_(trace.size()) {
  const Memory memory(trace);
  for (const Edge& edge : must_edges(trace)) {
    if (edge.kind == EdgeKind::kSemaphore) {
      seen_[edge.to].push_back(edge.from);
    }
  }
  std::map<std::pair<std::uint64_t, std::uint32_t>, Index> last_write;  // by byte and generation
  const std::vector<std::optional<Index>> taken = notifies_taken(trace);
  for (Index i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    if (taken[i]) {
      seen_[i].push_back(*taken[i]);
    }
    if (const std::optional<Section> holder = holder_found_by(trace, i)) {
      seen_[i].push_back(holder->acquire);
    }
    for (std::uint64_t byte = e.object; memory.is_access(i) && byte - e.object < e.size; ++byte) {
      const std::pair key(byte, memory.generation(i, byte));
      if (const auto it = last_write.find(key); is_read(e.op) && it != last_write.end()) {
        seen_[i].push_back(it->second);
      }
      if (is_write(e.op)) {
        last_write[key] = i;
      }
    }
  }
}

std::optional<std::vector<Index>> SyncPreservingClosures::before(std::span<const Index> targets) const {
  std::vector<bool> set(seen_.size());
  std::vector<Index> added;
  const auto add = [&](Index e) {
    if (!set[e]) {
      set[e] = true;
      added.push_back(e);
    }
  };
  const auto add_predecessors = [&](Index e) {
    for (Index p = 0; p < set.size(); ++p) {
      if (must_.ordered(p, e)) {
        add(p);
      }
    }
  };
  std::for_each(targets.begin(), targets.end(), add_predecessors);
  while (!added.empty()) {
    const Index e = added.back();
    added.pop_back();
    add_predecessors(e);
    for (Index write : seen_[e]) {
      add(write);
    }
    for (Index release : releases_due(set, e)) {
      add(release);
    }
  }
  if (std::any_of(targets.begin(), targets.end(), [&](Index target) { return set[target]; })) {
    return std::nullopt;
  }
  std::vector<Index> closure;
  for (Index e = 0; e < set.size(); ++e) {
    if (set[e]) {
      closure.push_back(e);
    }
  }
  return closure;
}

// The releases that sections of the set owe because `e`, when it is an acquire, is in it too. In a well-formed trace
// the earlier of two sections that exclude each other is released before the later one begins.
std::vector<Index> SyncPreservingClosures::releases_due(const std::vector<bool>& set, Index e) const {
  std::vector<Index> releases;
  for (const Section& one : sections_) {
    for (const Section& other : sections_) {
      const bool both = set[one.acquire] && set[other.acquire] && (one.acquire == e || other.acquire == e);
      if (both && one.lock == other.lock && one.acquire < other.acquire && (one.exclusive || other.exclusive)) {
        releases.push_back(one.release.value());
      }
    }
  }
  return releases;
}

std::vector<Candidate> syncp_conflicts(std::span<const Event> trace) {
  const Memory memory(trace);
  const SyncPreservingClosures closures(trace);
  std::vector<Candidate> found;
  for (Index second = 0; second < trace.size(); ++second) {
    for (Index first = 0; first < second; ++first) {
      const Index targets[] = {first, second};
      if (memory.conflict(first, second) && closures.before(targets)) {
        found.push_back({EventId{first}, EventId{second}});
      }
    }
  }
  return found;
}

}  // namespace sooth::oracle
