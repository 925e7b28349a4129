// What `sooth run` does with the findings of the first recording: tries them in controlled runs, records the program
// again under other schedules, and so on, as the planner says.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/environment.h"
#include "launch/isolation.h"
#include "race/finding.h"
#include "race/search.h"
#include "run/confirm_findings.h"
#include "run/failure_findings.h"
#include "run/finding_pool.h"
#include "run/record_program.h"
#include "run/work_limit.h"

namespace sooth {

// How far it is.
struct SearchProgress {
  std::string doing;             // "confirming", "recording again (pct:3, seed 5)"
  std::uint64_t runs = 0;        // controlled ones
  std::uint64_t recordings = 0;  // the first one included
  std::uint64_t open = 0;        // candidates that may be tried further
  std::uint64_t candidates = 0;
  std::uint64_t reached = 0;  // ... that runs got to
};

struct SearchJob {
  std::vector<std::string> words;       // the program
  IdentityOptions identity;             // of findings
  RecordingOptions recording;           // of the first one; the others have other schedules and seeds
  ConfirmJob confirm;                   // options.campaign.trials 0: nothing is tried
  std::chrono::milliseconds budget{0};  // 0: no end
  bool deterministic = false;           // as far as the budget allows: counts end what time would
  bool weak_memory = false;             // also tests what atomics may see besides the newest
  std::uint64_t max_recordings = 0;     // the first one included; 0: by the rule of the planner
  KeptInput input;                      // what every run reads
  std::string jobs_why;                 // for the summary
  std::optional<Isolation> isolation;   // of controlled runs
  std::string why_not_again;            // why the program is not recorded again, as a sentence; empty: it is
  // What the analyses find in the recordings of one run. Reports have ids, and findings each once.
  std::function<Result<std::vector<Report>>(const std::vector<MadeRecording>&)> analyze;
  std::function<void(const SearchProgress&)> progress;
};

struct SearchResult {
  std::vector<Finding> findings;  // those of the first recording and all others, as far as runs took them
  SearchSummary summary;
  FailureTally failures;  // of all runs but the first one
  ControlCounts control;
  std::vector<Gap> gaps;
  double confirm_seconds = 0, record_seconds = 0;  // the latter with the analysis of later recordings
};

// `first`: the reports of the first recording, one for each process, whose findings are moved away; `took` is what
// making and analysing it took.
SearchResult search(std::vector<Report>& first, const ProgramRecording& recording, std::chrono::milliseconds took,
                    const WorkLimit& limit, const SearchJob& job);

}  // namespace sooth
