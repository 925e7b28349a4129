// sooth replay: makes a controlled run of a program happen again.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_command.h"
#include "confirm/replay.h"
#include "launch/controlled_run.h"
#include "report/describe.h"
#include "report/files.h"
#include "report/json.h"
#include "schedule/schedule_file.h"

namespace sooth {
namespace {

// Controlled runs that have a schedule took no longer, unless somebody allowed them more.
constexpr std::chrono::seconds kDefaultTimeout(60);

constexpr std::chrono::seconds kSteeringTime(20);

struct ReplayFlags {
  std::string what;
  std::string output;
  std::chrono::milliseconds timeout{kDefaultTimeout};
  ReplayOptions replay;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

struct Wanted {
  ScheduleFile schedule;
  bool race = false;  // it is of a finding that is one
};

Result<Wanted> schedule_of_finding(const std::string& path, const std::string& id) {
  const Result<Report> report = read_report(path);
  if (!report.ok()) {
    return report.status();
  }
  use_engine_of(*report);
  const Result<const Finding*> finding = find_by_id(*report, id, path);
  if (!finding.ok()) {
    return finding.status();
  }
  if (!(*finding)->replay || (*finding)->replay->schedule.empty()) {
    return Status::usage(path + ": no run has reached the finding " + (*finding)->id +
                         ", so there is nothing to replay; try `sooth confirm " + path + " -- PROGRAM ARGUMENTS`");
  }
  Result<ScheduleFile> schedule = parse_schedule((*finding)->replay->schedule, path + "#" + (*finding)->id);
  if (!schedule.ok()) {
    return std::move(schedule).status();
  }
  return Wanted{std::move(*schedule), (*finding)->kind == FindingKind::kRace};
}

// REPORT#ID, a file, or STRATEGY@SEED; a file of the very name comes first.
Result<Wanted> find_schedule(const std::string& what) {
  std::error_code ignored;
  const std::size_t mark = what.rfind('#');
  if (what != "-" && !std::filesystem::exists(what, ignored)) {
    if (mark != std::string::npos) {
      return schedule_of_finding(what.substr(0, mark), what.substr(mark + 1));
    }
    if (std::optional<ScheduleFile> named = schedule_by_name(what)) {
      return Wanted{std::move(*named)};
    }
  }
  const Result<std::string> text = read_whole_file(what);
  if (!text.ok()) {
    return text.status();
  }
  if (text->starts_with("{")) {
    return Status::usage(what + " is a report; say which of its findings: `sooth replay " + what + "#ID`");
  }
  Result<ScheduleFile> schedule = parse_schedule(*text, what);
  return schedule.ok() ? Result<Wanted>(Wanted{std::move(*schedule)}) : std::move(schedule).status();
}

Status check_usage(const ReplayFlags& options) {
  if (options.what.empty() || program_words().empty()) {
    return Status::usage(
        "replay needs a schedule and a program: `sooth replay REPORT.json#ID|SCHEDULE -- PROGRAM ARGUMENTS`");
  }
  return {};
}

std::string how_it_hung(const Replayed& replayed, const ReplayOptions& options) {
  if (replayed.run.log.state == control::RunState::kHung) {
    return "a hang: all its threads did nothing but look at the same things again, and it was ended";
  }
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g s", std::chrono::duration<double>(options.timeout).count());
  return "a hang: it was killed when it still ran after " + std::string(seconds) + " (--timeout 0 waits for ever)";
}

// What happened, on standard error: standard output is the program's.
void tell(const ControlledProgram& program, const ScheduleFile& schedule, const Replayed& replayed,
          const ReplayOptions& options) {
  CodeNames names(program.path());
  for (const std::string& sentence : describe_events(replayed.plan, replayed.run.log, names)) {
    say(sentence);
  }
  if (options.under_gdb) {
    return;
  }
  const std::string end = replayed.run.timed_out ? how_it_hung(replayed, options) : replayed.run.end.describe();
  if (replayed.run.log.state == control::RunState::kNotStarted) {
    say("warning: nothing was controlled: " + program.path() +
        (program.instrumented() ? " never called the run time library" : " is not instrumented"));
  }
  if (!replayed.divergence.empty()) {
    say("the run left the schedule: " + replayed.divergence + "; it ended with " + end);
    if (!schedule.program.empty() && schedule.program != joined(program.words())) {
      say("note: the schedule is of `" + schedule.program + "`");
    }
    return;
  }
  const std::uint64_t stretches =
      replayed.run.log.processes.empty() ? 0 : replayed.run.log.processes.front().stretches.size();
  const bool compared = !schedule.places.empty();
  say((compared ? "the same run as in the schedule (" : "replayed (") + counted(stretches, "stretch", "stretches") +
      "), " + end + (schedule.outcome.empty() ? "" : "; in the schedule: " + schedule.outcome));
}

// For those who wanted to see the race, not this very run.
Status steer(const ControlledProgram& program, const ScheduleFile& schedule, const Replayed& replayed) {
  const Result<std::optional<Steered>> steered = steer_instead(program, schedule, replayed, kSteeringTime);
  if (!steered.ok() || !steered->has_value()) {
    return steered.ok() ? Status() : steered.status();
  }
  const Steered& what = **steered;
  if (!what.reached.has_value()) {
    say("runs that were steered there instead did not create the race either (" + counted(what.runs, "run", "runs") +
        ")");
    return {};
  }
  say("run " + std::to_string(what.runs) + " that was steered there instead did; its output is not shown:");
  CodeNames names(program.path());
  for (const std::string& sentence : describe_events(what.plan, what.reached->log, names)) {
    say("  " + sentence);
  }
  say("  it ended with " + (what.reached->timed_out ? "a hang" : what.reached->end.describe()));
  return {};
}

CommandResult run_replay(const ReplayFlags& options) {
  SOOTH_RETURN_IF_ERROR(check_usage(options));
  const Result<Wanted> wanted = find_schedule(options.what);
  if (!wanted.ok()) {
    return wanted.status();
  }
  const ScheduleFile& schedule = wanted->schedule;
  const Result<ControlledProgram> program = ControlledProgram::prepare(program_words());
  if (!program.ok()) {
    return program.status();
  }
  for (const std::string& note : program->notes()) {
    say(note);
  }
  ReplayOptions how = options.replay;
  how.timeout = how.under_gdb ? std::chrono::milliseconds(0) : options.timeout;  // who debugs takes the time it takes
  how.race = wanted->race;
  const Result<Replayed> replayed = replay(*program, schedule, how);
  if (!replayed.ok()) {
    return replayed.status();
  }
  tell(*program, schedule, *replayed, how);
  if (!how.under_gdb) {
    SOOTH_RETURN_IF_ERROR(steer(*program, schedule, *replayed));
  }
  if (!options.output.empty()) {
    ScheduleFile made = make_schedule(joined(program->words()), replayed->plan, replayed->run.log);
    made.outcome = replayed->run.end.describe();
    SOOTH_RETURN_IF_ERROR(write_whole_file(options.output, print_schedule(made)));
  }
  return replayed->divergence.empty() ? static_cast<ExitCode>(replayed->run.end.shell_status()) : ExitCode::kDiverged;
}

}  // namespace

void add_replay_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("replay", "Make a controlled run of a program happen again");
  auto options = std::make_shared<ReplayFlags>();
  command
      ->add_option("schedule", options->what,
                   "REPORT.json#ID of a finding that was confirmed (the beginning of the id is enough), a "
                   "schedule file, or STRATEGY@SEED like random@7")
      ->type_name("SCHEDULE");
  command->add_flag("--gdb", options->replay.under_gdb,
                    "Run it in gdb, which stops with both threads in front of their racing accesses");
  command->add_option("-o,--output", options->output, "Write the schedule of this run to a file")->type_name("FILE");
  add_duration_option(*command, "--timeout", options->timeout, "Kill the program after this time; 0: never. Not in gdb",
                      std::to_string(kDefaultTimeout.count()) + "s");
  command->footer(
      "Usage: sooth replay [OPTIONS] SCHEDULE -- PROGRAM ARGUMENTS. The exit status is the program's own (128 + "
      "signal),\n"
      "66 when it deadlocked or hung, 67 when it did not do what the schedule says.");
  run_with_program(
      *command, result, [options] { return options->what; }, [options] { return run_replay(*options); });
}

}  // namespace sooth
