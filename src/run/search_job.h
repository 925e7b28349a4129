// What a search for findings beyond the first recording is given.
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
#include "report/identity.h"
#include "run/confirm_findings.h"
#include "run/record_program.h"

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

// Whether runs are tested in which atomics see what is not the newest.
enum class WeakMemory : std::uint8_t {
  kNever,
  kWhereItMatters,  // recordings have atomics with orders that allow it, and all that synchronises is seen
  kAlways,
};

struct SearchJob {
  std::vector<std::string> words;       // the program
  IdentityOptions identity;             // of findings
  RecordingOptions recording;           // of the first one; the others have other schedules and seeds
  ConfirmJob confirm;                   // options.campaign.trials 0: nothing is tried
  std::chrono::milliseconds budget{0};  // 0: no end
  bool deterministic = false;           // as far as the budget allows: counts end what time would
  WeakMemory weak_memory = WeakMemory::kNever;
  std::uint64_t max_recordings = 0;    // the first one included; 0: by the rule of the planner
  KeptInput input;                     // what every run reads
  std::string jobs_why;                // for the summary
  std::optional<Isolation> isolation;  // of controlled runs
  std::string why_not_again;           // why the program is not recorded again, as a sentence; empty: it is
  // What the analyses find in the recordings of one run. Reports have ids, and findings each once.
  std::function<Result<std::vector<Report>>(const std::vector<MadeRecording>&)> analyze;
  std::function<void(const SearchProgress&)> progress;
};

}  // namespace sooth
