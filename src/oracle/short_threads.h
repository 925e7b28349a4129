// Random traces of programs that start many short threads.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event.h"

namespace sooth::oracle {

// Well-formed. Up to four threads at a time, up to a dozen in all, most of them joined soon and by any thread, some
// never; locks (also left locked), shared ones, atomics and fences, signals, barriers, semaphores and messages, which
// threads of one number would get wrong if they were taken for one thread.
std::vector<Event> short_threads(std::uint64_t seed);

}  // namespace sooth::oracle
