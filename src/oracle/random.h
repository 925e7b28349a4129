// Random numbers that are the same on every machine and standard library.
#pragma once

#include <cstdint>
#include <iterator>

namespace sooth::oracle {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 .. bound - 1. The bias of the remainder does not matter for bounds this small.
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool percent(std::uint32_t chance) { return below(100) < chance; }
  template <typename Range>
  auto& pick(Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace sooth::oracle
