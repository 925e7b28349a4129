// A vector clock that nobody looks at for now, in as few bytes as it has changes of value from thread to thread.
#pragma once

#include <cstdint>
#include <vector>

#include "order/vector_clock.h"

namespace sooth {

// Runs of equal components as (length, value), in variable-length integers. A clock that knows of hardly anybody is
// mostly zeros, and one that knows threads which all did the same is mostly that number: a few bytes for any number of
// threads.
class PackedClock {
 public:
  PackedClock() = default;
  explicit PackedClock(const VectorClock& clock) {
    const std::span<const Time> times = clock.times();
    for (std::size_t begin = 0; begin < times.size();) {
      std::size_t end = begin + 1;
      while (end < times.size() && times[end] == times[begin]) {
        ++end;
      }
      put(end - begin);
      put(times[begin]);
      begin = end;
    }
    bytes_.shrink_to_fit();
  }

  VectorClock unpack() const {
    VectorClock clock;
    std::size_t at = 0;
    for (std::size_t thread = 0; at < bytes_.size();) {
      const std::uint64_t length = get(at);
      const auto time = static_cast<Time>(get(at));
      // The last component first: the clock gets its length at once.
      for (std::uint64_t i = length; i-- > 0;) {
        clock.set(ThreadId(thread + i), time);
      }
      thread += length;
    }
    return clock;
  }

  bool empty() const { return bytes_.empty(); }
  std::size_t memory() const { return bytes_.capacity(); }

 private:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
      bytes_.push_back(static_cast<std::uint8_t>(number | 0x80));
    }
    bytes_.push_back(static_cast<std::uint8_t>(number));
  }
  std::uint64_t get(std::size_t& at) const {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = bytes_[at++];
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) {
        return number;
      }
    }
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace sooth
