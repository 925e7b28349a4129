// Finds out that a thread waits in a loop: it does nothing but look at the same things again. Counted in accesses,
// never in seconds. Freestanding, because the run time library asks inside the program.
#pragma once

#include <cstdint>

namespace sooth {

// Watches a window of the accesses of one thread. Not thread safe.
class SpinWatch {
 public:
  static constexpr std::uint32_t kWindow = 128;  // accesses
  static constexpr std::uint32_t kPlaces = 8;    // that a loop that waits looks at, at most

  constexpr void start() {
    left_ = kWindow;
    places_ = 0;
  }
  constexpr void stop() { left_ = 0; }
  constexpr bool is_watching() const { return left_ != 0; }

  // A compare-exchange of the thread failed and left what it saw at `place`: where a loop that tries again says what it
  // expects.
  constexpr void fails(std::uint64_t place) { expected_ = place; }
  constexpr void writes(std::uint64_t address) {
    if (address != expected_) {
      stop();
    }
  }

  // The thread reads `address` at `pc`, or tries to exchange it; any other thing it does is a reason for stop(). True:
  // this was the last of a window of reads of few places by few instructions, so it spins.
  constexpr bool reads(std::uint64_t address, std::uint64_t pc) {
    if (left_ == 0) {
      return false;
    }
    std::uint32_t i = 0;
    while (i < places_ && (addresses_[i] != address || pcs_[i] != pc)) {
      ++i;
    }
    if (i == kPlaces) {
      left_ = 0;
      return false;
    }
    if (i == places_) {
      addresses_[places_] = address;
      pcs_[places_++] = pc;
    }
    return --left_ == 0;
  }

 private:
  std::uint32_t left_ = 0;
  std::uint32_t places_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t addresses_[kPlaces] = {};
  std::uint64_t pcs_[kPlaces] = {};
};

}  // namespace sooth
