// Events as the sentences about witnesses name them.
#pragma once

#include <cstdint>
#include <string>

#include "race/witness.h"

namespace sooth {

// "T1"; without tables the number behind a T.
std::string thread_text(const TraceView& trace, ThreadId thread);
// "x"; without a name the number in hexadecimal.
std::string object_text(const TraceView& trace, const Event& e);
// "event 17 (T1 reads x)"; "event 17" when the trace has no such event.
std::string event_text(const TraceView& trace, std::uint64_t id);

}  // namespace sooth
