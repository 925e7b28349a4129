// Whether another schedule of the recorded steps reaches a race or a deadlock, with the schedule as proof.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/predictor.h"
#include "predict/saturation.h"
#include "predict/trace_index.h"
#include "predict/window.h"
#include "race/pair_table.h"

namespace sooth {

// What settled a question.
enum class DecidedBy : std::uint8_t {
  kClosure,     // the sync-preserving closure is a witness
  kSaturation,  // what any reordering must contain, and in which order, contradicts itself
  kSearch,      // trying out
  kSolver,      // a constraint solver
};
inline constexpr int kDecidedByCount = 4;
// The stages before the search only save time: without them the answers are the same. Tests and measurements use that.
struct SearchStages {
  bool closure = true;
  bool inference = true;  // of the order of needed events, in saturation
};
struct Effort {
  DecidedBy decided_by = DecidedBy::kClosure;
  std::uint64_t states = 0;  // that the search visited
};

// Whether the two accesses, which conflict, can both be next. Three stages, each of which may settle it: the closure in
// time linear in its size, saturation, then a search through the reorderings that differ in more than the order of
// independent steps. Infeasible is a proof. The search lets every read see the write that it saw, so where branches or
// values free some reads (TraceIndex::reads_are_fixed) its failure is Unknown; predict/mcm.h goes on from there.
Prediction find_race(const TraceIndex& index, Candidate candidate, const Budget& budget, Effort* effort = nullptr,
                     const SearchStages& stages = {});

// The last stage by itself, in a window. `bounds` is what saturation under ReadRule::kAll found. `poll` is asked instead
// of the time in `budget`.
enum class SearchOutcome : std::uint8_t { kReached, kExhausted, kGaveUp };
SearchOutcome search_order(const TraceIndex& index, const Window& window, const Bounds& bounds, const Budget& budget,
                           std::vector<EventId>& order, std::uint64_t& states, StopPoll* poll = nullptr);

// Whether the acquires, at least two, of different threads, can all be next while each waits for a lock that another of
// the threads holds, in one cycle of all of them. The witness lists them in the order of the cycle.
Prediction find_deadlock(const TraceIndex& index, std::span<const EventId> acquires, const Budget& budget,
                         Effort* effort = nullptr, const SearchStages& stages = {});

}  // namespace sooth
