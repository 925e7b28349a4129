// Controlled runs of a program towards the findings of a report, as `sooth confirm` and `sooth run` make them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "confirm/confirm_report.h"
#include "launch/controlled_run.h"
#include "race/finding.h"
#include "run/work_limit.h"

namespace sooth {

struct ConfirmJob {
  ConfirmOptions options;  // without wanted, on_finding, and the callbacks of the campaign: they are set here
  std::chrono::milliseconds timeout{60'000};  // of one run
  std::vector<std::string> suppressions;      // files: what they list is not tried
  std::string baseline;                       // file; empty for none: what it knows is not tried
  std::set<std::string> skip;                 // ids that need not be tried
  bool in_started_program =
      false;  // the report is about one that the program starts, a script its commands for instance
  // Runs made so far, findings done, and of how many.
  std::function<void(std::uint64_t runs, std::uint64_t done, std::uint64_t of)> progress;
};

// What the runs were not in the hand of the scheduler for.
struct ControlCounts {
  std::uint64_t runs = 0;
  std::uint64_t external = 0;   // something from outside took part: the seed alone may not repeat them
  std::uint64_t truncated = 0;  // did more than their log could hold
};

struct ConfirmResult {
  ConfirmCounts counts;
  ControlCounts control;
};

// The ids of findings that suppressions leave, the baseline does not know, and need not be skipped.
Result<std::set<std::string>> wanted_ids(const Report& report, const ConfirmJob& job);

void count_run(const RunOutcome& run, ControlCounts& counts);

// Ids must be filled, and equal findings merged. Findings that move up get their place among the others.
Result<ConfirmResult> confirm_findings(Report& report, const ControlledProgram& program, const WorkLimit& limit,
                                       ConfirmJob job);

// Writes the whole report, as JSON, where `sooth replay` finds it. Without measured times when it is to be
// `deterministic`.
Status store_report(const Report& report, const std::string& path, std::string_view version, bool deterministic);

}  // namespace sooth
