// Memory whose races the program calls benign (AnnotateBenignRace): plain accesses to it are not recorded.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

// For the calling thread at once, for others from their next synchronisation on. At most kMaxIgnored ranges; more are
// recorded as usual.
void ignore_memory(uptr begin, uptr size);
bool is_ignored_memory(uptr address);
// Does any range exist? Then kIgnoreMemory is set in Thread::special.
bool any_ignored_memory();
inline constexpr u32 kMaxIgnored = 256;

}  // namespace sooth::rt
