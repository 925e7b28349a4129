// Where in the program looking for redundant accesses pays.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event.h"

namespace sooth {

// Follows for each site what share of the accesses that were looked at there was hidden. Where it is small, only a
// sample is looked at: all accesses to some of the addresses, not some of the accesses to all, so that what repeats
// itself is seen to do so whatever comes in between. When the sample repeats itself, and from time to time in case the
// sample has none of the addresses that matter, all are looked at again. An access that is not looked at passes, and is
// not remembered.
class SiteYields {
 public:
  // Decides about a site after about `patience` looks, again and again. 0: never, all are looked at.
  explicit SiteYields(std::uint32_t patience) : patience_(patience) {}

  bool wants(SiteId site, std::uint64_t address) {
    if (raw(site) >= sites_.size()) [[unlikely]] {
      sites_.resize(raw(site) + 1);
    }
    Site& s = sites_[raw(site)];
    if (s.to_pass == 0 || in_sample(address)) {
      return true;
    }
    --s.to_pass;
    return false;
  }
  // What came of an access that wants() wanted.
  void note(SiteId site, bool hidden) {
    Site& s = sites_[raw(site)];
    s.hidden += hidden ? 1 : 0;
    // A sample is told sooner: each of its accesses speaks for others.
    if (++s.looked_at >= (s.to_pass == 0 ? patience_ : patience_ / 4) && patience_ != 0) [[unlikely]] {
      decide(s);
    }
  }
  std::uint64_t memory() const { return sites_.capacity() * sizeof(Site); }

 private:
  static constexpr unsigned kSampleBits = 4;        // one address in 16
  static constexpr std::uint32_t kPassFactor = 64;  // how many pass for each look that found nothing
  // At one hidden access in so many the detectors save about what looking costs.
  static constexpr std::uint32_t kWorthwhile = 4;

  struct Site {
    std::uint32_t looked_at = 0;
    std::uint32_t hidden = 0;
    std::uint32_t to_pass = 0;  // accesses outside of the sample; 0: all are looked at
  };
  static bool in_sample(std::uint64_t address) { return address * 0x9e3779b97f4a7c15u >> (64 - kSampleBits) == 0; }
  void decide(Site& s) const {
    const bool pays = s.hidden * kWorthwhile >= s.looked_at;
    s = {0, 0, pays ? 0 : s.to_pass == 0 ? kPassFactor * patience_ : s.to_pass};
  }

  const std::uint32_t patience_;
  std::vector<Site> sites_;  // by SiteId
};

}  // namespace sooth
