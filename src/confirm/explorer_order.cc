#include "confirm/explorer_order.h"

#include <algorithm>

namespace sooth {
namespace {

constexpr std::size_t kNoTurn = ~std::size_t{0};

bool is_ready(const ExploredPoint& point, std::uint32_t thread) { return (point.ready >> thread & 1) != 0; }

}  // namespace

ExploredOrder::ExploredOrder(const Execution& execution, std::size_t turns)
    : threads_(turns), places_(turns), clocks_(turns), races_(turns) {
  std::size_t threads = 0;
  for (std::size_t i = 0; i < turns; ++i) {
    threads_[i] = execution.points[i].chosen;
    threads = std::max<std::size_t>(threads, threads_[i] + std::size_t{1});
  }
  last_.assign(threads, kNoTurn);
  for (std::size_t i = 0; i < turns; ++i) {
    clocks_[i].assign(threads, 0);
    add(execution, i);
  }
}

void ExploredOrder::merge(std::size_t turn, std::size_t earlier) {
  for (std::size_t t = 0; t < clocks_[turn].size(); ++t) {
    clocks_[turn][t] = std::max(clocks_[turn][t], clocks_[earlier][t]);
  }
}

void ExploredOrder::add(const Execution& execution, std::size_t turn) {
  const std::uint32_t thread = threads_[turn];
  const std::size_t previous = last_[thread];
  if (previous != kNoTurn) {
    merge(turn, previous);
  }
  places_[turn] = clocks_[turn][thread];
  // What made it ready, since its last turn: it could not have come earlier.
  for (std::size_t i = turn; i > 0 && i - 1 != previous; --i) {
    if (!is_ready(execution.points[i - 1], thread)) {
      merge(turn, i - 1);
      break;
    }
  }
  for (std::size_t i = turn; i-- > 0;) {
    if (is_before(i, turn)) {
      continue;
    }
    const StepRelation how = relation(execution.points[i].done, execution.points[turn].done);
    if (how == StepRelation::kIndependent) {
      continue;
    }
    merge(turn, i);
    if (how == StepRelation::kDependent) {
      races_[turn].push_back(i);
    }
  }
  clocks_[turn][thread] = places_[turn] + 1;
  last_[thread] = turn;
}

}  // namespace sooth
