#include "oracle/oracle.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace sooth::oracle {

Memory::Memory(std::span<const Event> trace) : trace_(trace), generations_(trace.size()) {
  std::unordered_map<std::uint64_t, std::uint32_t> generation;
  for (Index i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    for (std::uint64_t byte = e.object; byte - e.object < e.size; ++byte) {
      if (e.op == Op::kAlloc) {
        ++generation[byte];
      } else if (sooth::is_access(e.op) || e.op == Op::kFree) {
        generations_[i].push_back(generation[byte]);
      }
    }
  }
}

std::uint32_t Memory::generation(Index event, std::uint64_t byte) const {
  return generations_[event][byte - trace_[event].object];
}

std::vector<std::uint64_t> Memory::shared_bytes(Index a, Index b) const {
  std::vector<std::uint64_t> bytes;
  if (!is_access(a) || !is_access(b)) {
    return bytes;
  }
  const std::uint64_t end = std::min(trace_[a].object + trace_[a].size, trace_[b].object + trace_[b].size);
  for (std::uint64_t byte = std::max(trace_[a].object, trace_[b].object); byte < end; ++byte) {
    if (generation(a, byte) == generation(b, byte)) {
      bytes.push_back(byte);
    }
  }
  return bytes;
}

bool Memory::conflict(Index a, Index b) const {
  return trace_[a].thread != trace_[b].thread && (is_write(trace_[a].op) || is_write(trace_[b].op)) &&
         !(is_atomic(trace_[a].op) && is_atomic(trace_[b].op)) && !shared_bytes(a, b).empty();
}

bool protected_by_a_lock(std::span<const Event> trace, std::span<const Section> sections, Index a, Index b) {
  for (const Section& of_a : sections) {
    for (const Section& of_b : sections) {
      if (of_a.lock == of_b.lock && (of_a.exclusive || of_b.exclusive) && contains(of_a, trace, a) &&
          contains(of_b, trace, b)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<Candidate> unordered_conflicts(std::span<const Event> trace, const Relation& order) {
  const Memory memory(trace);
  std::vector<Candidate> found;
  for (Index second = 0; second < trace.size(); ++second) {
    for (Index first = 0; first < second; ++first) {
      if (memory.conflict(first, second) && !order.either(first, second)) {
        found.push_back({EventId{first}, EventId{second}});
      }
    }
  }
  return found;
}

std::vector<Candidate> hb_conflicts(std::span<const Event> trace) {
  return unordered_conflicts(trace, happens_before(trace));
}

std::vector<Candidate> hybrid_conflicts(std::span<const Event> trace) {
  return unprotected_conflicts(trace, must_order(trace));
}

std::vector<Candidate> unprotected_conflicts(std::span<const Event> trace, const Relation& order) {
  const std::vector<Section> sections = sections_of(trace);
  std::vector<Candidate> found = unordered_conflicts(trace, order);
  std::erase_if(found, [&](const Candidate& pair) {
    return protected_by_a_lock(trace, sections, raw(pair.first), raw(pair.second));
  });
  return found;
}

namespace {

// One byte of one generation in Eraser's state machine (section 6).
struct ByteState {
  enum class State : std::uint8_t { kVirgin, kExclusive, kShared, kSharedModified } state = State::kVirgin;
  ThreadId owner{};
  std::set<std::uint64_t> candidates;

  // `locks` are those that protect this access.
  void access(ThreadId thread, bool write, const std::set<std::uint64_t>& locks) {
    switch (state) {
      case State::kVirgin:
        state = State::kExclusive;
        owner = thread;
        return;
      case State::kExclusive:
        if (thread != owner) {
          candidates = locks;
          state = write ? State::kSharedModified : State::kShared;
        }
        return;
      case State::kShared:
      case State::kSharedModified:
        std::erase_if(candidates, [&](std::uint64_t lock) { return !locks.contains(lock); });
        if (write) {
          state = State::kSharedModified;
        }
        return;
    }
  }
  bool suspicious() const { return state == State::kSharedModified && candidates.empty(); }
};

}  // namespace

std::vector<Candidate> lockset_conflicts(std::span<const Event> trace) {
  const Memory memory(trace);
  const std::vector<Section> sections = sections_of(trace);
  std::map<std::pair<std::uint64_t, std::uint32_t>, ByteState> bytes;  // by address and generation
  std::vector<Candidate> found;
  for (Index second = 0; second < trace.size(); ++second) {
    if (!memory.is_access(second)) {
      continue;
    }
    const Event& e = trace[second];
    std::set<std::uint64_t> locks;
    for (const Section& section : sections) {
      if (contains(section, trace, second) && (section.exclusive || !is_write(e.op))) {
        locks.insert(section.lock);
      }
    }
    std::set<std::uint64_t> suspicious;
    for (std::uint64_t byte = e.object; byte - e.object < e.size; ++byte) {
      ByteState& state = bytes[{byte, memory.generation(second, byte)}];
      state.access(e.thread, is_write(e.op), locks);
      if (state.suspicious()) {
        suspicious.insert(byte);
      }
    }
    for (Index first = 0; first < second; ++first) {
      const std::vector<std::uint64_t> shared = memory.shared_bytes(first, second);
      if (memory.conflict(first, second) && !protected_by_a_lock(trace, sections, first, second) &&
          std::any_of(shared.begin(), shared.end(), [&](std::uint64_t b) { return suspicious.contains(b); })) {
        found.push_back({EventId{first}, EventId{second}});
      }
    }
  }
  return found;
}

std::vector<SitePair> site_pairs(std::span<const Event> trace, std::span<const Candidate> conflicts) {
  std::map<std::pair<SiteId, SiteId>, std::vector<Candidate>> by_sites;
  for (const Candidate& pair : conflicts) {
    const auto [low, high] = std::minmax(trace[raw(pair.first)].site, trace[raw(pair.second)].site);
    by_sites[{low, high}].push_back(pair);
  }
  std::vector<SitePair> result;
  for (const auto& [sites, pairs] : by_sites) {
    SitePair row{sites.first, sites.second, pairs.front(), 0, ~std::uint64_t{0}, {}, {}};
    std::set<EventId> seconds;
    for (const Candidate& pair : pairs) {
      seconds.insert(pair.second);
      row.distance = std::min(row.distance, raw(pair.second) - raw(pair.first));
      const bool earlier_second = pair.second < row.example.second;
      const bool later_first = pair.second == row.example.second && pair.first > row.example.first;
      if (earlier_second || later_first) {
        row.example = pair;
      }
    }
    row.second_accesses = seconds.size();
    result.push_back(row);
  }
  return result;
}

std::vector<SitePair> sorted(std::span<const SitePair> pairs) {
  std::vector<SitePair> result(pairs.begin(), pairs.end());
  std::sort(result.begin(), result.end(), [](const SitePair& a, const SitePair& b) {
    return std::pair(a.low_site, a.high_site) < std::pair(b.low_site, b.high_site);
  });
  return result;
}

bool same_pairs(std::span<const SitePair> a, std::span<const SitePair> b) {
  const std::vector<SitePair> left = sorted(a);
  const std::vector<SitePair> right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const SitePair& p, const SitePair& q) {
    return p.low_site == q.low_site && p.high_site == q.high_site && p.example == q.example &&
           p.second_accesses == q.second_accesses && p.distance == q.distance;
  });
}

}  // namespace sooth::oracle
