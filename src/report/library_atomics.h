// Races inside of operations that the C++ standard calls atomic.
#pragma once

#include "race/finding.h"

namespace sooth {

// Drops races of two operations on a std::atomic<std::shared_ptr> or std::atomic<std::weak_ptr>, which the standard says
// are none. libstdc++ guards its pointer with a bit that load() gives back by a relaxed operation, so the next write is
// not ordered behind what load() read. That is between the library and the machine: nothing in the program is wrong.
// Frames must be known.
void drop_races_of_library_atomics(Report& report);

}  // namespace sooth
