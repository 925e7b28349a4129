// Lock cycles (docs/deadlocks.md) by trying all tuples of acquires. Exponential; for traces of a few dozen events.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "oracle/must_order.h"

namespace sooth::oracle {

// Sites of a cycle, sorted.
using CycleSites = std::vector<SiteId>;

// The acquires of each lock cycle: each wants a lock that the next thread holds. They start with the earliest.
std::set<std::vector<Index>> lock_cycles(std::span<const Event> trace);
std::set<CycleSites> lock_cycle_sites(std::span<const Event> trace);

}  // namespace sooth::oracle
