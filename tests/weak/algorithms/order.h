// One order of each algorithm is weaker with -DWEAKENED. Data that threads hand on is in relaxed atomics, so that what goes
// wrong is an old value and no data race.
#pragma once

#include <atomic>
#include <cassert>
#include <thread>

#ifdef WEAKENED
#define ORDER(right, weakened) std::memory_order_##weakened
#else
#define ORDER(right, weakened) std::memory_order_##right
#endif

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

template <typename First, typename Second>
void run_both(First first, Second second) {
  std::thread one(first), other(second);
  one.join();
  other.join();
}
