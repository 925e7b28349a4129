// Who has read a granule, in one word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "order/vector_clock.h"

namespace sooth {

// An epoch in 44 bits: 14 of the thread, 30 of its local time, which starts at 1; 0 is none. Where there are several
// readers and none is the last, the word stands for them instead: for a set of epochs, of which there is one of each, so
// that tables that many threads read cost little; or, where each granule goes its own way, for a clock.
class ReaderSets {
 public:
  static constexpr unsigned kEpochBits = 44;
  static constexpr unsigned kTimeBits = 30;
  static constexpr std::uint64_t kMostTime = (std::uint64_t{1} << kTimeBits) - 1;
  static constexpr std::uint64_t kMostThread = 0x3ffd;

  // Whether all of them are known. Look knows(ThreadId, Time) and covers(VectorClock).
  template <typename Look>
  bool known(std::uint64_t readers, const Look& look) const {
    const auto knows = [&](std::uint64_t epoch) { return look.knows(thread_of(epoch), time_of(epoch)); };
    switch (readers >> kTimeBits) {
      case kSet: {
        if (readers == kUnknown) {
          return false;
        }
        const std::vector<std::uint64_t>& epochs = sets_[readers & kMostTime];
        return std::all_of(epochs.begin(), epochs.end(), knows);
      }
      case kClock: return look.covers(clocks_[readers & kMostTime]);
      default: return knows(readers);
    }
  }
  // The readers and one more, which knows what `look` does. `own_way`: no other granule has just these.
  template <typename Look>
  std::uint64_t with(std::uint64_t readers, std::uint64_t epoch, bool own_way, const Look& look) {
    if (known(readers, look)) {
      give_back(readers);
      return epoch;
    }
    if (readers == kUnknown) {
      return readers;
    }
    return own_way || readers >> kTimeBits == kClock ? with_in_clock(readers, epoch) : with_in_set(readers, epoch);
  }
  // Nobody has this word any more.
  void give_back(std::uint64_t readers) {
    if (readers >> kTimeBits == kClock) {
      clocks_[readers & kMostTime].clear();
      free_clocks_.push_back(static_cast<std::uint32_t>(readers & kMostTime));
    }
  }
  std::uint64_t memory() const { return index_.memory(); }

 private:
  // In the place of the thread.
  static constexpr std::uint64_t kSet = 0x3fff;
  static constexpr std::uint64_t kClock = 0x3ffe;
  static constexpr std::uint64_t kUnknown = kSet << kTimeBits | kMostTime;  // there were too many sets
  static constexpr std::size_t kMostSets = 1u << 18;

  static ThreadId thread_of(std::uint64_t epoch) { return ThreadId(static_cast<std::uint32_t>(epoch >> kTimeBits)); }
  static Time time_of(std::uint64_t epoch) { return static_cast<Time>(epoch & kMostTime); }

  std::uint64_t with_in_set(std::uint64_t readers, std::uint64_t epoch) {
    const std::uint64_t set = readers >> kTimeBits == kSet ? readers & kMostTime : extended(0, readers);
    return kSet << kTimeBits | extended(set, epoch);
  }
  std::uint64_t extended(std::uint64_t set, std::uint64_t epoch) {
    if (set == kMostTime) {
      return set;
    }
    static_assert(kMostSets <= std::uint64_t{1} << (64 - kEpochBits));
    std::uint32_t& next = index_[set << kEpochBits | epoch];
    if (next == 0) {
      if (sets_.size() == kMostSets) {
        return kMostTime;
      }
      std::vector<std::uint64_t> epochs = sets_[set];
      std::erase_if(epochs, [&](std::uint64_t each) { return thread_of(each) == thread_of(epoch); });
      epochs.push_back(epoch);
      next = static_cast<std::uint32_t>(sets_.size());
      sets_.push_back(std::move(epochs));
    }
    return next;
  }

  std::uint64_t with_in_clock(std::uint64_t readers, std::uint64_t epoch) {
    if (readers >> kTimeBits != kClock) {
      if (free_clocks_.empty()) {
        free_clocks_.push_back(static_cast<std::uint32_t>(clocks_.size()));
        clocks_.emplace_back();
      }
      const std::uint32_t clock = free_clocks_.back();
      free_clocks_.pop_back();
      const auto add = [&](std::uint64_t each) { clocks_[clock].set(thread_of(each), time_of(each)); };
      if (readers >> kTimeBits == kSet) {
        std::for_each(sets_[readers & kMostTime].begin(), sets_[readers & kMostTime].end(), add);
      } else {
        add(readers);
      }
      readers = kClock << kTimeBits | clock;
    }
    clocks_[readers & kMostTime].set(thread_of(epoch), time_of(epoch));
    return readers;
  }

  std::vector<std::vector<std::uint64_t>> sets_{1};  // the first is empty
  FlatMap<std::uint32_t> index_;                     // by set << kEpochBits | epoch: the set with that one, too
  std::vector<VectorClock> clocks_;
  std::vector<std::uint32_t> free_clocks_;
};

}  // namespace sooth
