// The random numbers of schedules: a function of the seed and nothing else, the same on every machine. Freestanding,
// because the run time library draws them inside the recorded program.
#pragma once

#include <cstdint>

namespace sooth {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, figure 17). Every seed,
// 0 too, starts another stretch of one cycle of 2^64 numbers. Not thread safe.
class SeededRandom {
 public:
  constexpr explicit SeededRandom(std::uint64_t seed = 0) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  // Uniform in [0, bound), without the bias of a remainder alone; `bound` is not 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound: so many numbers are too many
    for (;;) {
      const std::uint64_t number = next();
      if (number >= uneven) {
        return number % bound;
      }
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace sooth
