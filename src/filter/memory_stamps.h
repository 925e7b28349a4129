// When something last happened to a piece of memory that makes an access to it worth seeing again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "order/lock_set.h"
#include "trace/event.h"

namespace sooth {

// Counts changes of memory: each of the counters in which a range lies only grows, so their sum is the same at two
// times exactly when none has changed. Memory is counted in lines of 64 bytes in a table of fixed size: what shares a
// counter with a change seems changed too, which costs a filter an opportunity and nothing else.
class LineVersions {
 public:
  // The range changed. size > 0, no wrap-around.
  void change(std::uint64_t address, std::uint64_t size);
  // Of a range; 0 until anything changes.
  std::uint64_t sum(std::uint64_t address, std::uint64_t size) const {
    if (counters_.empty()) {
      return 0;
    }
    const std::uint64_t first = address / kLine;
    const std::uint64_t last = (address + (size - 1)) / kLine;
    return first == last ? counters_[slot(first)] : sum_of_lines(first, last);
  }
  std::uint64_t memory() const { return counters_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr unsigned kBits = 15;

  static std::size_t slot(std::uint64_t line) { return line * 0x9e3779b97f4a7c15u >> (64 - kBits); }
  std::uint64_t sum_of_lines(std::uint64_t first, std::uint64_t last) const;

  std::vector<std::uint64_t> counters_;  // empty until something changes
};

// `lockset` reports pairs of a variable only from a certain moment on (docs/semantics.md section 6): the gate of
// Eraser's state machine opens in steps, and an access before such a step does not speak for one after it. This stamps
// memory with the number of the latest step.
//
// It need not know the whole past. For each granule of 8 bytes it follows the owner, the candidate locks and whether
// there was a write, from any moment on, as if the memory were new then; a step is anything that may be one
// from *some* state that the real machine can be in:
//  - the first access of a second thread, which ends the exclusive state if the machine is in it;
//  - an access that shrinks the candidates as followed so far: those are a superset of the real ones, so whenever the
//    real ones shrink these do;
//  - the first write.
// So the table may be small and forget, and a granule that is accessed by other bytes than before starts anew.
class EraserGates {
 public:
  EraserGates() : granules_(kFirstGranules) {}

  // Notes the access and gives the sum of the stamps of its granules afterwards. `guards`: the locks that protect it.
  // `version`: the sum of its lines; when that has changed, the memory is new.
  [[gnu::always_inline]] std::uint64_t access(const Event& e, LockSetId guards, std::uint64_t version,
                                              LockSetTable& table) {
    const std::uint64_t number = e.object / kGranule;
    const Granule& granule = granule_of(number);
    const std::uint64_t first = e.object % kGranule;
    // Most of them: of known bytes, and no step.
    if (granule.number == number && granule.version == version && granule.first_byte == first &&
        granule.last_byte == first + (e.size - 1) && (granule.shared || granule.owner == e.thread) &&
        granule.candidates == guards && (granule.written || !is_write(e.op))) [[likely]] {
      return granule.stamp;
    }
    return access_granules(e, guards, version, table);
  }
  std::uint64_t memory() const { return granules_.capacity() * sizeof(Granule); }

 private:
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::size_t kFirstGranules = std::size_t{1} << 8;
  static constexpr std::size_t kMostGranules = std::size_t{1} << 16;

  struct Granule {
    std::uint64_t number = ~std::uint64_t{0};
    std::uint64_t version = 0;
    std::uint64_t stamp = 0;
    ThreadId owner{};
    LockSetId candidates = kNoLocks;
    std::uint8_t first_byte = 0;  // of those accessed
    std::uint8_t last_byte = 0;
    bool shared = false;
    bool written = false;
  };

  Granule& granule_of(std::uint64_t number) {
    return granules_[number * 0x9e3779b97f4a7c15u >> 32 & (granules_.size() - 1)];
  }
  std::uint64_t access_granules(const Event& e, LockSetId guards, std::uint64_t version, LockSetTable& table);
  void touch(Granule& granule, const Event& e, LockSetId guards, LockSetTable& table);

  std::vector<Granule> granules_;  // a power of two
  std::size_t forgotten_ = 0;      // granules that had to make room, since the table has this size
  std::uint64_t steps_ = 0;
};

}  // namespace sooth
