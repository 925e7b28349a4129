// The folder that a campaign lives in, what a worker does in it, and the report that its units give.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "race/finding.h"
#include "run/suite_plan.h"

namespace sooth {

// FOLDER/plan.json and, for each unit that is done, FOLDER/units/NUMBER.json. A result appears whole or not at all, and
// is the same whoever makes it: units need no locks, can be lost and can be done twice. The folder may be on a file
// system that many machines share, or be copied to each and the results gathered.
class SuiteFolder {
 public:
  // A new folder with the plan in it. Fails when it has another plan; with an equal one the campaign goes on.
  static Result<SuiteFolder> create(const std::string& folder, SuitePlan plan);
  static Result<SuiteFolder> open(const std::string& folder);

  const SuitePlan& plan() const { return plan_; }
  std::string report_path(std::uint64_t unit) const;
  // What the unit printed, where it has no result.
  std::string log_path(std::uint64_t unit) const;
  bool is_done(std::uint64_t unit) const;
  // Those without a result, ascending.
  std::vector<std::uint64_t> missing() const;

 private:
  SuiteFolder(std::string folder, SuitePlan plan) : folder_(std::move(folder)), plan_(std::move(plan)) {}

  std::string folder_;  // absolute
  SuitePlan plan_;
};

struct UnitEnd {
  bool interrupted = false;  // somebody wants an end: the unit has no result, and no other is to be begun
  std::string failed;        // a sentence: why it has none; empty: it has one
};

// Does one unit, whether it has a result or not: `sooth run` as the plan says, started from the executable `tool`, with
// `jobs` controlled runs at a time. Changes the current folder. One unit at a time in a process.
UnitEnd do_unit(const SuiteFolder& folder, std::uint64_t unit, const std::string& tool, std::uint32_t jobs);

// Where a worker begins that is told nothing else: workers begin at different places, so that they seldom do the same.
std::vector<std::uint64_t> from_a_place_of_ones_own(std::vector<std::uint64_t> units, std::uint64_t worker);

// One report of all units that are done. Its findings name the units that show them, and it tells which are missing. Depends
// on the results alone, not on who made them when. Fails when a result is no report, or when there is none.
Result<Report> merge_units(const SuiteFolder& folder);

}  // namespace sooth
