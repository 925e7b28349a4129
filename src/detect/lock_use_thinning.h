// Which uses of locks may be forgotten without losing a cycle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "detect/lock_cycle_search.h"
#include "order/lock_set.h"

namespace sooth {

// `next` has for each use the one that differs from it in its thread only, which has the same number and began after the
// other was over; or kNoUse. Such a later use can stand for the earlier one in every cycle to come: whoever does not know
// the earlier use does not know the later one. It can in every cycle of what has happened, if each use that is unordered
// with the earlier one, and that no lock keeps apart from it, is unordered with the later one, too. Then, and only then,
// the answer is true for the earlier use. All of them can be left out at once.
//
// Stops after so many steps, and says false of the rest. Time: for each thread, a part of the moments for each use.
inline constexpr std::size_t kNoUse = ~std::size_t{0};
std::vector<bool> dispensable_uses(std::span<const CycleUse> uses, std::span<const std::size_t> next,
                                   const LockSetTable& lock_sets, std::uint64_t max_steps);

}  // namespace sooth
