// What a controlled run is to bring about, and whether it did.
#pragma once

#include <optional>
#include <vector>

#include "confirm/site_code.h"
#include "confirm/witness_schedule.h"
#include "race/finding.h"
#include "schedule/run_log.h"

namespace sooth {

// What to bring about.
struct Target {
  FindingKind kind = FindingKind::kRace;
  PairCode pair;  // of a race
  // ... and the variable, where others are touched at the same places: addresses in the file of the program, or that it
  // is in none of its variables. Nothing: any.
  std::optional<std::vector<AddressRange>> variable;
  std::vector<PlaceCode> acquires;  // of a deadlock: one for each thread, around the cycle
  // ... and where in the program its lock is; empty: nobody knows. Parallel to `acquires`, or empty.
  std::vector<std::vector<AddressRange>> locks = {};
  std::vector<WitnessSchedule> witnesses;  // to follow first, one after the other until one gets there
  bool proven = true;                      // they are of a witness; else guesses, of which nothing is told
};

// Whether a run got there: a race was created between the two places, or the process ended in a deadlock of so many
// threads at these acquires, each held up by the next.
bool reaches(const Target& target, const RunLog& log);

// Whether that took a thread that was kept from running for longer than usual: was_delayed(), up to the race.
bool reaches_by_delay(const Target& target, const RunLog& log);

// Which of the two places, or of its threads where both places are one, went first when the race was first created: 0 or
// 1; -1 when there is no telling.
int first_place(const PairCode& pair, const RunLog& log);

}  // namespace sooth
