// Shrinks a counter-example to something a person can think about.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trace/batch.h"

namespace sooth::oracle {

// Deletes events for as long as the trace stays well-formed and `fails` stays true: first runs of events, then pairs
// (an acquire with its release), then single ones. `trace` itself must fail.
std::vector<Event> minimise(std::vector<Event> trace, const std::function<bool(std::span<const Event>)>& fails);

// The same with the reaches of calls, which go with their calls.
struct CallTrace {
  std::vector<Event> events;
  std::vector<Reach> reaches;
};
CallTrace minimise(const CallTrace& trace, const std::function<bool(const CallTrace&)>& fails);

}  // namespace sooth::oracle
