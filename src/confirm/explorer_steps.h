// What an explored run did, as the search for other runs sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedule/protocol.h"

namespace sooth {

// What a thread does from one scheduling point to the next, as it announced it.
struct ExploredStep {
  // Bytes of one granule. Granules have the same numbers in all runs that begin alike.
  struct Part {
    std::uint64_t granule = 0;
    std::uint8_t bytes = 0;  // a bit for each

    friend bool operator==(const Part&, const Part&) = default;
  };

  Op op = Op::kCallBegin;
  bool writes = true;          // of one that is done: something else than was there
  bool is_everything = false;  // may be about anything, or ends the process
  bool ends_thread = false;
  Part end;                                // ... and this is what joins of the thread wait for
  std::vector<Part> parts;                 // by granule
  std::uint32_t size = 0;                  // bytes of an access
  std::string module;                      // as SiteCode::module
  std::uint64_t offset = 0;                // of the program counter in its module; 0: unknown
  std::uint64_t events = 0, accesses = 0;  // position of the thread in front of it
  bool in_s = false;                       // with weak memory: a sequentially consistent access, or fence
  std::uint32_t variable = 0;              // one more than where in the program's file it touches one; 0: none

  // A free is a write to all of its block.
  bool is_plain() const { return op == Op::kRead || op == Op::kWrite || op == Op::kFree; }
  bool is_at(const ExploredStep& other) const { return offset == other.offset && module == other.module; }
};
// nullptr: nothing that others could notice.
using StepPtr = std::shared_ptr<const ExploredStep>;

enum class StepRelation : std::uint8_t {
  kIndependent,  // either order gives the same
  kOrdered,      // an end and a join of the thread: the other way round the join waits for the end, which is the same
  kDependent,
};
// Of two steps of different threads, `first` the earlier one.
StepRelation relation(const StepPtr& first, const StepPtr& second);
// Two accesses to a common byte, at least one a write, not both atomic.
bool are_conflicting(const ExploredStep& first, const ExploredStep& second);
// ExploredStep::variable of the first byte that both touch.
inline std::uint32_t variable_of(const ExploredStep& first, const ExploredStep& second) {
  return first.variable == 0 || second.variable == 0 ? 0 : std::max(first.variable, second.variable);
}

// A scheduling point, and the choice that was made there.
struct ExploredPoint {
  std::uint64_t ready = 0;              // threads, as bits
  std::uint32_t from = control::kNone;  // had the turn
  std::uint32_t chosen = 0;
  bool is_free = false;          // choosing another than `from` is no preemption
  bool is_fresh = false;         // `from` has just come to its pending step
  std::vector<StepPtr> pending;  // by thread: what it does next
  StepPtr done;                  // what `chosen` then did
  // With weak memory: what it chose to see, and out of how many; one for each of its operations that had a choice.
  struct Seen {
    std::uint16_t chosen = 0, choices = 1;
  };
  std::vector<Seen> seen = {};
  std::uint64_t stretches = 0;  // that were over when `from` came here
  std::uint64_t delay = 0;      // ProcessLog::longest_delay until then

  bool is_choice() const { return (ready & (ready - 1)) != 0; }
};

struct Execution {
  std::vector<ExploredPoint> points;
  bool is_cut = false;        // there is more than `points`
  bool ends_process = false;  // the last turn did, and with it all that others would have done; else nobody could go on
  bool is_repeatable = true;  // false: something from outside took part
};

}  // namespace sooth
