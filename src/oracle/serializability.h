// Section 16 of docs/semantics.md, straight from the definition: quadratic in events, for traces of a few dozen.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>

#include "trace/event.h"

namespace sooth::oracle {

// The events with which blocks begin that are on a cycle of blocks. `is_atomic`: of the functions.
std::set<EventId> violated_blocks(std::span<const Event> trace, const std::function<bool(SiteId)>& is_atomic);

}  // namespace sooth::oracle
