// When a question to a solver is given up.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace sooth {

struct SolverLimit {
  // Whoever knows only the first of the two says only that.
  template <typename Rep, typename Period>
  SolverLimit(std::chrono::duration<Rep, Period> time,
              std::function<bool()> stop = {})  // NOLINT(google-explicit-constructor)
      : timeout(time), out_of_time(std::move(stop)) {}

  std::chrono::milliseconds timeout;  // from the construction of the solver on
  std::function<bool()> out_of_time;  // asked all the time, also from another thread; empty: there is time
};

}  // namespace sooth
