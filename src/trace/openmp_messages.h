// Which messages (Op::kHappensBefore, Op::kHappensAfter) are OpenMP's. Freestanding: the run time library includes it.
#pragma once

#include <cstdint>

namespace sooth {

// They are numbered from here; no address is near it.
inline constexpr std::uint64_t kFirstOpenMpMessage = std::uint64_t{1} << 44;
inline constexpr std::uint64_t kMostOpenMpMessages = std::uint64_t{1} << 40;

}  // namespace sooth
