// What `sooth run` does with the findings of the first recording: tries them in controlled runs, records the program
// again under other schedules, and so on, as the planner says.
#pragma once

#include <chrono>
#include <vector>

#include "race/finding.h"
#include "race/search.h"
#include "run/failure_findings.h"
#include "run/record_program.h"
#include "run/search_job.h"
#include "run/work_limit.h"

namespace sooth {

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
