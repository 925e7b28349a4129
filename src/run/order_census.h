// In which order recordings saw threads meet, and which schedule might show another one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "trace/reader.h"

namespace sooth {

// Remembers, of all recordings together, which place of which thread came next after which one of another thread: at
// the same lock, or at memory that one of the two wrote. A pair that was only ever seen in one order is what a further
// recording should turn around: what was read, and so which code runs, may be new then.
class OrderCensus {
 public:
  // Of one recording. Looks at the first kMostEvents of it; an error ends it there.
  void add(TraceReader& trace);
  // "first:N" lets thread N run whenever it can, "last:N" only when no other can: the one that turns the most pairs
  // around that no recording has shown in the other order; fewest uses first, then "first". nullopt: there are none.
  std::optional<std::string> next_schedule();

  // A recording has a wait for a condition that has no deadline.
  bool has_condition_waits() const { return has_condition_waits_; }
  // ... or an atomic, not all of whose operations are sequentially consistent, that one thread loads and another one
  // changes: the load might see something that is not the newest.
  bool has_weak_atomics() const { return has_weak_atomics_; }

  std::uint64_t one_way() const;  // pairs that were seen in one order only

  static constexpr std::uint64_t kMostEvents = 200'000;
  static constexpr std::size_t kMostPairs = 20'000;

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // of a site, and the thread
  std::uint32_t number_of(const Site& site);

  std::map<std::string, std::uint32_t> sites_;   // by site_key()
  std::set<std::pair<Place, Place>> seen_;       // the former came first
  std::map<std::string, std::uint32_t> chosen_;  // how often
  bool has_condition_waits_ = false, has_weak_atomics_ = false;
};

}  // namespace sooth
