// Makes a controlled run happen again, and tells what happened. docs/replay.md.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "confirm/code_names.h"
#include "launch/controlled_run.h"
#include "race/finding.h"
#include "schedule/schedule_file.h"

namespace sooth {

// "random@7", "pct:3@7": the run of that strategy and seed, of which nothing else is known. nullopt when it is not of
// this form.
std::optional<ScheduleFile> schedule_by_name(std::string_view name);
// The other way round; empty for a schedule that its strategy and seed alone do not give.
std::string name_of_schedule(const ScheduleFile& schedule);

// The finding whose id is, or begins with, `id`. The error, which names `path`, says which there are.
Result<const Finding*> find_by_id(const Report& report, std::string_view id, const std::string& path);

struct ReplayOptions {
  std::chrono::milliseconds timeout{0};  // 0: none
  bool under_gdb = false;                // stops with both threads in front of their accesses
  bool race = false;                     // the schedule is of a run that created one
};

struct Replayed {
  RunOutcome run;
  RunPlan plan;            // that was run
  std::string divergence;  // the first difference to the schedule; empty when it is the same run
};

// The program's streams are ours.
Result<Replayed> replay(const ControlledProgram& program, const ScheduleFile& schedule, const ReplayOptions& options);

// What a schedule leads to, made to happen without it: programs that wait for something outside (sockets, other
// processes) may never do twice what one schedule says.
struct Steered {
  std::uint64_t runs = 0;             // that were made
  std::optional<RunOutcome> reached;  // the last, if it created the race
  RunPlan plan;                       // of that
};

// For a schedule of a race, whose replay left it and did not create the race (`replayed`): directed runs, until one
// creates it, for so long. Nothing for all others. The program's streams are not ours, and its input is empty.
Result<std::optional<Steered>> steer_instead(const ControlledProgram& program, const ScheduleFile& schedule,
                                             const Replayed& replayed, std::chrono::milliseconds time);

// Sentences without a full stop about the races and the deadlock of the run: "race created: thread T1 (write of 4 bytes
// at a.cc:3:5) and thread T2 (read of 4 bytes at a.cc:9:1); thread T2 went first". Of many races the first few, and how
// many there are.
std::vector<std::string> describe_events(const RunPlan& plan, const RunLog& log, CodeNames& names);

// "thread T1 at a.cc:3:5 waits for a mutex that thread T2 holds", for each thread of a deadlock.
std::vector<std::string> describe_deadlock(const ProcessLog& process, CodeNames& names);

}  // namespace sooth
