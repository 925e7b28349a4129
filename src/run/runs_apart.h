// How many controlled runs may be made at a time without disturbing each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/controlled_run.h"
#include "launch/isolation.h"
#include "launch/kept_input.h"
#include "run/work_limit.h"

namespace sooth {

struct RunsApart {
  std::uint32_t jobs = 1;
  std::string why;                     // ... if that is not all that was asked for, or takes something; else empty
  std::optional<Isolation> isolation;  // each run gets it
};

struct ApartJob {
  std::vector<std::string> words;  // the program
  std::uint32_t jobs = 1;          // wanted
  std::chrono::milliseconds timeout{0};
  KeptInput input;
};

// A program that reaches what other runs have as well (launch/reaching_out.h) gets name spaces of its own, if the kernel
// lets us and a run in them does what the same run does without; else runs are made one after the other.
RunsApart keep_runs_apart(const ApartJob& job, const WorkLimit& limit);

// Whether two runs of the same schedule did the same, as far as can be seen.
bool are_alike(const RunOutcome& a, const RunOutcome& b);

// Two runs of the same schedule, made alike, need not do the same: what comes from outside comes when it comes. Whether
// `third`, made elsewhere, could be one more of these.
bool could_be_third(const RunOutcome& a, const RunOutcome& b, const RunOutcome& third);

}  // namespace sooth
