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
    for_each_run([&](std::size_t begin, std::size_t end, Time time) { clock.join_run(begin, end, time); });
    return clock;
  }
  // clock.join(unpack())
  void join_to(VectorClock& clock) const {
    for_each_run([&](std::size_t begin, std::size_t end, Time time) {
      if (time != 0) {
        clock.join_run(begin, end, time);
      }
    });
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

  template <typename Visit>
  void for_each_run(Visit&& visit) const {
    std::size_t thread = 0;
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::size_t end = thread + get(at);
      visit(thread, end, static_cast<Time>(get(at)));
      thread = end;
    }
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace sooth
