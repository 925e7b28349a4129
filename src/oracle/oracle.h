// What `hb`, `hybrid` and `lockset` report, computed from the definitions of docs/semantics.md over all pairs of
// events. Quadratic in events times bytes; for traces of a few dozen events.
#pragma once

#include <span>
#include <vector>

#include "oracle/must_order.h"
#include "race/pair_table.h"

namespace sooth::oracle {

// Every access of a trace, byte by byte, with the generation of each byte (section 1).
class Memory {
 public:
  explicit Memory(std::span<const Event> trace);

  // An access in the sense of section 1: frees count.
  bool is_access(Index event) const { return !generations_[event].empty(); }
  // Number of allocs before the event that contain the byte.
  std::uint32_t generation(Index event, std::uint64_t byte) const;
  // Bytes that both touch, of the same generation.
  std::vector<std::uint64_t> shared_bytes(Index a, Index b) const;
  bool conflict(Index a, Index b) const;

 private:
  std::span<const Event> trace_;
  std::vector<std::vector<std::uint32_t>> generations_;  // of each byte of each access; empty: no access
};

// Section 2: both accesses hold a lock that one of them holds exclusively.
bool protected_by_a_lock(std::span<const Event> trace, std::span<const Section> sections, Index a, Index b);

// Conflicting pairs, the earlier access first, that the relation leaves unordered.
std::vector<Candidate> unordered_conflicts(std::span<const Event> trace, const Relation& order);
std::vector<Candidate> hb_conflicts(std::span<const Event> trace);
std::vector<Candidate> hybrid_conflicts(std::span<const Event> trace);
// The same with another order in place of must-order.
std::vector<Candidate> unprotected_conflicts(std::span<const Event> trace, const Relation& order);
std::vector<Candidate> lockset_conflicts(std::span<const Event> trace);

// Site pairs with count, distance and example, sorted by sites.
std::vector<SitePair> site_pairs(std::span<const Event> trace, std::span<const Candidate> conflicts);

// Equal in every field. `pairs` in any order.
bool same_pairs(std::span<const SitePair> a, std::span<const SitePair> b);
std::vector<SitePair> sorted(std::span<const SitePair> pairs);

}  // namespace sooth::oracle
