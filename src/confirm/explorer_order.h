// Happens-before of an explored run: what of its order must stay, whatever else is reordered.
#pragma once

#include <cstdint>
#include <vector>

#include "confirm/explorer_steps.h"

namespace sooth {

// Turn i is what the chosen thread of point i did. A turn comes after the earlier ones of its thread, after the one
// that made its thread ready, and after those that it depends on. O(n^2) for n turns.
class ExploredOrder {
 public:
  ExploredOrder(const Execution& execution, std::size_t turns);

  bool is_before(std::size_t early, std::size_t late) const { return clocks_[late][threads_[early]] > places_[early]; }
  // Earlier turns of other threads that depend on the turn, without a third one in between, and could have come behind
  // it.
  const std::vector<std::size_t>& races(std::size_t turn) const { return races_[turn]; }
  std::uint32_t thread(std::size_t turn) const { return threads_[turn]; }

 private:
  void add(const Execution& execution, std::size_t turn);
  void merge(std::size_t turn, std::size_t earlier);

  std::vector<std::uint32_t> threads_;
  std::vector<std::uint32_t> places_;               // of each turn among those of its thread, from 0
  std::vector<std::vector<std::uint32_t>> clocks_;  // of each turn, by thread: how many turns of it are not later
  std::vector<std::vector<std::size_t>> races_;
  std::vector<std::size_t> last_;  // turn of each thread; kNoTurn
};

}  // namespace sooth
