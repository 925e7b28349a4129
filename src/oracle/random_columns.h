// Side columns for random traces: values that fit the reads, and branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/batch.h"

namespace sooth::oracle {

// Writes store bytes below `kinds`, the same in all bytes of an access; reads find what is there, at first 0. Some
// accesses are left without a value, and what frees, rmws and allocs leave is anything. Parallel to `trace`.
std::vector<Value> random_values(std::span<const Event> trace, std::uint32_t kinds, std::uint64_t seed);

// One branch for about so many events: anywhere, of any thread.
std::vector<Branch> random_branches(std::span<const Event> trace, std::uint32_t every, std::uint64_t seed);

// Up to three ranges for each call: what some access of the trace touches, a part of it or more, objects that threads
// synchronise on; rarely everything.
std::vector<Reach> random_reaches(std::span<const Event> trace, std::uint64_t seed);

}  // namespace sooth::oracle
