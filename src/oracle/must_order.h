// Must-order and happens-before as docs/semantics.md defines them: an explicit list of edges, then the transitive
// closure. Cubic in the number of events; for traces of a few dozen. Shares no code with any detector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/event.h"

namespace sooth::oracle {

// Events are named by their position in the trace.
using Index = std::size_t;

// A binary relation on the events of a trace, as a matrix of bits.
class Relation {
 public:
  explicit Relation(std::size_t size);

  std::size_t size() const { return size_; }
  void add(Index from, Index to);
  // Transitive closure (Warshall).
  void close();
  // `from` is related to `to`. In a closed acyclic relation: comes before it.
  bool ordered(Index from, Index to) const { return (word(from, to) >> (to % 64) & 1) != 0; }
  bool either(Index a, Index b) const { return ordered(a, b) || ordered(b, a); }
  // Adds every pair of `other`; both have the same size.
  void include(const Relation& other);

  friend bool operator==(const Relation&, const Relation&) = default;
  friend Relation compose(const Relation& first, const Relation& second);

 private:
  std::uint64_t word(Index from, Index to) const { return bits_[from * words_ + to / 64]; }

  std::size_t size_;
  std::size_t words_;  // per row
  std::vector<std::uint64_t> bits_;
};

// a is related to c when `first` relates a to some b and `second` relates b to c.
Relation compose(const Relation& first, const Relation& second);

// Why an edge is there. A test that drops one kind must see the difference.
enum class EdgeKind : std::uint8_t {
  kProgram,
  kFork,
  kJoin,
  kSignal,
  kBarrier,
  kSemaphore,
  kMessage,
  kAtomic,
  kFence,
  kExclusiveRelease,
  kSharedRelease
};
inline constexpr int kEdgeKindCount = 11;
std::string_view edge_kind_name(EdgeKind kind);

struct Edge {
  Index from = 0;
  Index to = 0;
  EdgeKind kind{};

  friend bool operator==(const Edge&, const Edge&) = default;
};

// An outermost acquire with its last release. Without `release` the section is open at the end of the trace.
struct Section {
  std::uint64_t lock = 0;
  ThreadId thread{};
  Index acquire = 0;
  std::optional<Index> release;
  bool exclusive = true;  // the mode of the outermost acquire
  bool waits = true;      // that acquire waits for as long as it takes
};

// In the order of their acquires.
std::vector<Section> sections_of(std::span<const Event> trace);
// The event lies in the section: between its acquire and release, both included.
bool contains(const Section& section, std::span<const Event> trace, Index event);

// The section in which the failed acquire found its lock: of several the first. Nothing when its own thread holds the
// lock, or nobody does in the trace, or it is no failed acquire.
std::optional<Section> holder_found_by(std::span<const Event> trace, Index event);
// The section keeps out who tries the lock at the failed acquire.
bool keeps_out(const Section& section, const Event& failed);

// Of each event whether it is a condition wait that took a notify in the trace (docs/semantics.md section 7), and which.
std::vector<std::optional<Index>> notifies_taken(std::span<const Event> trace);
// The release that a condition wait begins with; nothing: its thread has released nothing before.
std::optional<Index> begin_of_wait(std::span<const Event> trace, Index wait);

// Section 3 of docs/semantics.md. Of edges that program order repeats only the tightest stands here: fork -> the first
// event of the child, its last event -> join, the latest release fence before a store, the first acquire fence after
// a load.
std::vector<Edge> must_edges(std::span<const Event> trace);
// Those of them that every reordering keeps (section 7): atomics and fences are memory there, and semaphores are
// counters, but for operations that are not among counted_by_semaphores().
std::vector<Edge> hard_edges(std::span<const Event> trace);
// Of each event whether it is a post or wait that only changes the count of its semaphore: nothing was allocated there
// since the first operation of that semaphore.
std::vector<bool> counted_by_semaphores(std::span<const Event> trace);
// What the semaphores hold at first, by address: as many as there are counted waits that found no post.
std::map<std::uint64_t, std::size_t> first_counts(std::span<const Event> trace);
// Section 4: from releases of sections to acquires of sections.
std::vector<Edge> lock_edges(std::span<const Event> trace);

Relation closure(std::size_t size, std::span<const Edge> edges);
Relation must_order(std::span<const Event> trace);
Relation hard_order(std::span<const Event> trace);
Relation happens_before(std::span<const Event> trace);

}  // namespace sooth::oracle
