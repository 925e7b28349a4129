// Takes the findings of a report up the ladder, as far as runs of the program prove them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "confirm/campaign.h"
#include "confirm/targets.h"
#include "race/finding.h"

namespace sooth {

struct ConfirmOptions {
  CampaignOptions campaign;
  std::string trace;                      // that the witnesses are of; empty: the one that the report names
  std::uint64_t max_events = 50'000'000;  // of the trace in memory; a witness beyond them is not followed
  std::uint32_t shard = 1, shards = 1;    // takes findings shard, shard + shards, ... of those to be tried, from 1
  std::string report_name;                // under which the report can be found, for the command of a replay
  std::function<bool(const Finding&)> wanted = [](const Finding&) { return true; };
  std::function<void(std::uint64_t done, std::uint64_t of)> on_finding = [](std::uint64_t, std::uint64_t) {};
};

struct ConfirmCounts {
  std::uint64_t tried = 0, reached = 0, harmful = 0;
  std::uint64_t untried = 0;        // the time was over before
  std::vector<std::string> chosen;  // ids of those that are to be tried, of this shard
};

// Tries the findings, in turns: each a few times before any of them is tried more often; each has its id. `words`: the program as the user typed it,
// `path` its executable (empty: the report is about one that it starts). Findings that runs reach move up and get a
// replay, the others stay and tell how many runs were made. Notes of the report tell what could not be tried. Fails
// only when the program cannot be run.
Result<ConfirmCounts> confirm_report(Report& report, const std::vector<std::string>& words, const std::string& path,
                                     const Campaign::Run& run, const ConfirmOptions& options);

// What to type to make it happen again; `program` is a command line.
std::string replay_command(const std::string& report, const Finding& finding, const std::string& program);

// What a confirmation makes of a finding. One that an earlier campaign took further stays as it is. What a recording
// predicts takes no delay: sleeps order nothing in it.
void apply(const Confirmation& confirmation, const std::string& program, const std::string& command, Finding& finding);

}  // namespace sooth
