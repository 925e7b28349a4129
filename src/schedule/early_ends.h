// When sleeps and time-outs end although others could still run. A sleep orders nothing: real threads are kept from
// running for as long as the system likes, so its end may come at any moment, and only a scheduler that draws it as it
// draws other things finds out what a program does then. Freestanding, like strategy.h.
//
// Each deadline gets, when its wait begins, a number of scheduling points of the process after which it fires. The
// number is drawn from all scales, small ones more often, so that a sleep may end in the middle of what others do,
// whether that is ten steps or ten thousand. Some are not drawn early at all: those fire when nobody else can run, or
// when the clock has come to them. That is the rule for few short ones, for most of seconds, and for all that are more
// than kLongest ahead: nobody believes that a thread that could run was kept from it for so long.
#pragma once

#include <cstdint>

#include "schedule/random.h"

namespace sooth {

class EarlyEnds {
 public:
  static constexpr std::uint64_t kNotEarly = ~std::uint64_t{0};
  static constexpr std::uint64_t kLongest = 10'000'000'000;  // nanoseconds

  constexpr EarlyEnds() = default;
  constexpr explicit EarlyEnds(std::uint64_t seed) : random_(seed ^ 0x736c656570657273) {}  // not what others draw from

  // Scheduling points until a deadline fires that is so many nanoseconds ahead, at least 1; or kNotEarly.
  constexpr std::uint64_t draw(std::uint64_t ahead) {
    constexpr std::uint64_t kMillisecond = 1'000'000, kSides = 16, kScales = 14;
    const std::uint64_t chance = ahead <= 20 * kMillisecond      ? 14
                                 : ahead <= 2'000 * kMillisecond ? 10
                                 : ahead <= kLongest             ? 4
                                                                 : 0;
    return draw(chance, kSides, kScales);
  }
  // The same until a wait for a condition ends although nobody notifies. Mostly the wait is not for long.
  constexpr std::uint64_t draw_spurious() {
    constexpr std::uint64_t kChance = 6, kSides = 16, kScales = 6;
    return draw(kChance, kSides, kScales);
  }

 private:
  constexpr std::uint64_t draw(std::uint64_t chance, std::uint64_t sides, std::uint64_t scales) {
    const std::uint64_t side = random_.below(sides);
    const std::uint64_t one = random_.below(scales), other = random_.below(scales);
    const std::uint64_t scale = std::uint64_t{1} << (one < other ? one : other);
    const std::uint64_t points = scale + random_.below(scale);
    return side < chance ? points : kNotEarly;
  }

  SeededRandom random_;
};

}  // namespace sooth
