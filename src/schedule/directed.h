// The decisions of RaceFuzzer (Sen: Race Directed Random Testing of Concurrent Programs, PLDI 2008, Algorithms 1 and 2
// and Section 4): a thread in front of an access at a site of the pair waits, *postponed*, until another comes to a
// conflicting access.
//
// A function of the seed, of what was decided before and of who is postponed. Freestanding like strategy.h: the run
// time library asks inside the program, tests ask without one.
//
// The same for deadlocks (Joshi, Park, Sen, Naik: A Randomized Dynamic Program Analysis Technique for Detecting Real
// Deadlocks, PLDI 2009): a thread in front of an acquire of the cycle, with a lock in its hands, is postponed. When all
// that could run are, each holds what another one wants.
//
// Two things that the paper leaves open. A thread that line 27 takes out of `postponed` does its access without being
// asked again, for nothing else would end the wait of a thread that is alone. And a pair of different sites is met by
// one thread at each: two threads at the same one of them may be in a race, but not in that of the pair.
//
// And one that it does not foresee: a site in a hot loop. Waiting there costs others so much time that a run that takes a
// fraction of a second alone does not end. So the n-th thread that comes to a site in vain waits with a probability of
// kSure / n, and with a patience of 1 / (1 + n / kPatient): after N times there were kSure * ln(N) waits.
#pragma once

#include <cstdint>

#include "schedule/protocol.h"
#include "schedule/random.h"

namespace sooth {

// What a thread is about to do at a site.
struct SiteAccess {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  // of the program counter in its module; for the log only
  std::uint32_t bytes = 0;
  std::uint32_t kinds = 0;  // control::kReads, ...
  std::uint32_t sites = 0;  // as in control::SiteRange
  std::uint32_t range = 0;  // index of the SiteRange
};

// Algorithm 2, for one postponed thread: both accesses touch a byte, at least one writes it, not both are atomic, and
// they are at the two ends of the pair.
constexpr bool are_racing(const SiteAccess& a, const SiteAccess& b) {
  const bool overlap = a.address < b.address + b.bytes && b.address < a.address + a.bytes;
  const bool writes = ((a.kinds | b.kinds) & control::kWrites) != 0;
  const bool both_atomic = (a.kinds & b.kinds & control::kAtomics) != 0;
  const bool both_ends = ((a.sites & 1) != 0 && (b.sites & 2) != 0) || ((a.sites & 2) != 0 && (b.sites & 1) != 0);
  return overlap && writes && !both_atomic && both_ends;
}

// Two threads in front of acquires of one lock: the section of one is to come between two of the other.
constexpr bool are_meeting(const SiteAccess& a, const SiteAccess& b) {
  const bool both_ends = ((a.sites & control::kSecondSection) != 0 && (b.sites & control::kSectionBetween) != 0) ||
                         ((a.sites & control::kSectionBetween) != 0 && (b.sites & control::kSecondSection) != 0);
  return both_ends && a.address == b.address && ((a.kinds | b.kinds) & (control::kReads | control::kWrites)) == 0;
}

// Whether an access of these kinds is one that a range of code means. A range with kAtomics means atomic ones too.
constexpr bool is_meant(std::uint32_t range_kinds, std::uint32_t access_kinds) {
  const std::uint32_t directions = control::kReads | control::kWrites;
  if ((range_kinds & access_kinds & (control::kAcquires | control::kFirstAcquires)) != 0) {
    return true;
  }
  return (range_kinds & access_kinds & directions) != 0 && ((access_kinds & control::kAtomics) & ~range_kinds) == 0;
}

enum class Approach : std::uint8_t {
  kPass,      // nothing could come of waiting
  kPostpone,  // no race yet (line 21)
  kGoesFirst,  // a race with each postponed thread for which are_racing(): the access happens, they stay postponed (line 12)
  kGoesSecond,  // likewise, but those do theirs and this thread is postponed (lines 14 to 18)
};

// The decisions of one run. An Entry of the lists has `next`, its `access`, `postponed_at`: hook calls when it was
// postponed, and `rounds`: as draw_rounds() then said.
class Directed {
 public:
  static constexpr std::uint64_t kDefaultPatience = std::uint64_t{1} << 22;

  constexpr Directed() = default;
  // `patience`: hook calls of others after which a postponed thread is let go; 0: the default.
  constexpr Directed(std::uint64_t seed, std::uint64_t patience)
      : random_(~seed), rounds_(seed), patience_(patience == 0 ? kDefaultPatience : patience) {}

  // Lines 6 to 22: the running thread is in front of the access. `alone`: nobody else can run, nor will without it.
  template <typename Entry>
  constexpr Approach approach(const SiteAccess& access, const Entry* postponed, bool alone) {
    if ((access.sites & control::kEitherSection) != 0) {
      passing_ = passed_ == 0 ? 1 + random_.below(3) : passing_;
      if (passed_ < passing_) {
        ++passed_;
        return Approach::kPass;
      }
    }
    for (const Entry* entry = postponed; entry != nullptr; entry = entry->next) {
      if (are_racing(access, entry->access)) {
        return random_.below(2) == 0 ? Approach::kGoesFirst : Approach::kGoesSecond;
      }
      if (are_meeting(access, entry->access)) {
        return (access.sites & control::kSectionBetween) != 0 ? Approach::kGoesFirst : Approach::kGoesSecond;
      }
    }
    if (alone && postponed == nullptr) {
      return Approach::kPass;
    }
    std::uint64_t& times = times_[access.range % kCounters];
    ++times;
    return times <= kSure || random_.below(times) < kSure ? Approach::kPostpone : Approach::kPass;
  }

  // Lines 26 to 28: all that could run are postponed. Which of them goes on; nullptr if there is none.
  template <typename Entry>
  constexpr Entry* release(Entry* postponed) {
    std::uint64_t count = 0;
    for (Entry* entry = postponed; entry != nullptr; entry = entry->next) {
      ++count;
    }
    if (count == 0) {
      return nullptr;
    }
    for (std::uint64_t chosen = random_.below(count); chosen != 0; --chosen) {
      postponed = postponed->next;
    }
    return postponed;
  }

  // Section 4: others run in a loop, perhaps for what a postponed thread will do. One whose patience is over; nullptr
  // if there is none.
  template <typename Entry>
  constexpr Entry* impatient(Entry* postponed, std::uint64_t hook_calls) const {
    while (postponed != nullptr && hook_calls - postponed->postponed_at <= patience_at(postponed->access)) {
      postponed = postponed->next;
    }
    return postponed;
  }

  // Likewise, when it is plain that they do: each of them has gone round its loop that often without a change that any
  // of them could see. Most loops need one round to be known for what they are, but some count: so few is likely, and
  // so many possible.
  constexpr std::uint32_t draw_rounds() {
    const std::uint64_t drawn = rounds_.next();
    std::uint32_t rounds = kFewRounds;
    for (std::uint32_t bit = 0; bit < kDoublings && (drawn >> bit & 1) != 0; ++bit) {
      rounds *= 2;
    }
    return rounds;
  }
  // One that has waited for so many rounds of all others; nullptr if there is none.
  template <typename Entry>
  constexpr Entry* outwaited(Entry* postponed, std::uint32_t rounds) const {
    while (postponed != nullptr && rounds < postponed->rounds) {
      postponed = postponed->next;
    }
    return postponed;
  }

 private:
  static constexpr std::uint32_t kFewRounds = 16, kDoublings = 10;
  static constexpr std::uint64_t kSure = 64, kPatient = 16, kCounters = 64;

  constexpr std::uint64_t patience_at(const SiteAccess& access) const {
    return patience_ / (1 + times_[access.range % kCounters] / kPatient);
  }

  SeededRandom random_{0}, rounds_{0};
  std::uint64_t patience_ = kDefaultPatience;
  std::uint64_t passing_ = 0, passed_ = 0;  // threads that pass at control::kEitherSection, and those that did
  std::uint64_t times_[kCounters] = {};     // that a thread came to a site and met nobody, by the index of its range
};

}  // namespace sooth
