// Parts of recorded values.
#pragma once

#include <cstdint>

#include "trace/batch.h"

namespace sooth {

// At most 8 bytes of a value, from `offset` on, as a number: the first is the lowest.
inline std::uint64_t value_bits(const Value& value, unsigned offset, unsigned bytes) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    const unsigned at = offset + i;
    const std::uint64_t byte = (at < 8 ? value.low >> (8 * at) : value.high >> (8 * (at - 8))) & 0xff;
    bits |= byte << (8 * i);
  }
  return bits;
}

}  // namespace sooth
