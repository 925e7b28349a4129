// sooth test: schedule fuzzing. Runs a program under many schedules and tells in how many ways it can end.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "confirm/replay.h"
#include "confirm/shell_words.h"
#include "confirm/test_campaign.h"
#include "launch/preflight.h"
#include "report/describe.h"
#include "report/files.h"
#include "schedule/strategy.h"

namespace sooth {
namespace {

constexpr std::size_t kSeedsShown = 5;

struct Options {
  std::vector<std::string> extras;
  CampaignFlags flags;
  std::string strategy = "random";
  std::uint64_t runs = 1000;
  std::string schedules;  // directory
  std::string format = "text";
  std::string output;
};

void say(const std::string& sentence) {
  std::fprintf(stderr, "sooth: %s\n", printable(sentence).c_str());
}

// An end, with what to type to see it again.
struct Shown {
  const TestEnd* end;
  std::string file;    // of its schedule; empty: none was written
  std::string replay;  // empty: there is only the schedule
};

std::string kind_name(const TestEnd& end) {
  switch (end.outcome.kind) {
    case Outcome::Kind::kExited: return end.outcome.complained ? "complaint" : "exit";
    case Outcome::Kind::kKilled: return "crash";
    case Outcome::Kind::kDeadlocked: return "deadlock";
    case Outcome::Kind::kHung: return "hang";
  }
  return "";
}

// Writes the schedules of failures, if the user wants them, and makes the lines that repeat them.
Result<std::vector<Shown>> prepare_ends(const TestResult& result, const std::vector<std::string>& words,
                                        const Options& options) {
  std::vector<Shown> shown;
  if (!options.schedules.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.schedules, error);
    if (error) {
      return Status::bad_input("cannot make the directory " + options.schedules + ": " + error.message());
    }
  }
  for (const TestEnd& end : result.ends) {
    Shown each{&end, "", name_of_schedule(end.schedule)};
    if (!options.schedules.empty() && (end.failure || each.replay.empty())) {
      each.file = options.schedules + "/" + kind_name(end) + "-" + std::to_string(end.first_seed) + ".schedule";
      SOOTH_RETURN_IF_ERROR(write_whole_file(each.file, print_schedule(end.schedule)));
    }
    const std::string what = each.file.empty() ? each.replay : each.file;
    each.replay = what.empty() ? "" : "sooth replay " + shell_word(what) + " -- " + shell_words(words);
    shown.push_back(std::move(each));
  }
  return shown;
}

std::string headline(const TestResult& result, const std::vector<std::string>& words, const Options& options) {
  std::uint64_t failures = 0, kinds = 0;
  for (const TestEnd& end : result.ends) {
    failures += end.failure ? end.runs : 0;
    kinds += end.failure ? 1 : 0;
  }
  std::string text = counted(result.runs, "run", "runs") + " of " + shell_words(words) + " (" + options.strategy +
                     ", from seed " + std::to_string(options.flags.seed) +
                     (options.flags.shards > 1 ? ", shard " + std::to_string(options.flags.shard) + "/" +
                                                     std::to_string(options.flags.shards)
                                               : "") +
                     "): ";
  text +=
      kinds == 0 ? "no failure" : counted(failures, "failure", "failures") + " of " + counted(kinds, "kind", "kinds");
  if (result.runs < result.planned) {
    text += "; stopped after " + std::to_string(result.runs) + " of " + std::to_string(result.planned) + " runs";
  }
  return text + "\n";
}

// "3 different outputs, first with the seeds 1, 4 and 9".
std::string describe_outputs(const TestEnd& end) {
  std::vector<std::string> seeds;
  for (std::size_t i = 0; i < end.outputs.size() && i < kSeedsShown; ++i) {
    seeds.push_back(std::to_string(end.outputs[i].first_seed));
  }
  const bool full = end.outputs.size() >= kMaxOutputs;
  return (full ? "at least " : "") + std::to_string(end.outputs.size()) + " different outputs, " +
         (end.outputs.size() > kSeedsShown ? "the first of them" : "first") + " with the seeds " + listed(seeds);
}

std::string as_text(const TestResult& result, const std::vector<Shown>& ends, const std::vector<std::string>& words,
                    const Options& options) {
  std::string text = headline(result, words, options);
  for (const Shown& each : ends) {
    const TestEnd& end = *each.end;
    text += "\n" + counted(end.runs, "run", "runs") + ": " + printable(end.outcome.describe()) + "\n";
    for (const std::string& sentence : end.blocked) {
      text += "  " + printable(sentence) + "\n";
    }
    if (end.failure) {
      text += "  first with seed " + std::to_string(end.first_seed) +
              (each.replay.empty() ? "; --schedules DIR writes a schedule to replay\n"
                                   : "; again: " + printable(each.replay) + "\n");
    }
    if (end.outputs.size() > 1) {
      text += "  " + describe_outputs(end) + "\n";
    }
  }
  return text;
}

std::string as_json(const TestResult& result, const std::vector<Shown>& ends, const std::vector<std::string>& words,
                    const Options& options) {
  using nlohmann::ordered_json;
  ordered_json json = {{"schema", "sooth-test/1"},   {"program", shell_words(words)}, {"strategy", options.strategy},
                       {"seed", options.flags.seed}, {"shard", options.flags.shard},  {"shards", options.flags.shards},
                       {"runs", result.runs},        {"planned", result.planned},     {"external", result.external}};
  json["ends"] = ordered_json::array();
  for (const Shown& each : ends) {
    const TestEnd& end = *each.end;
    ordered_json row = {{"kind", kind_name(end)},
                        {"number", end.outcome.number},
                        {"description", printable(end.outcome.describe())},
                        {"failure", end.failure},
                        {"runs", end.runs},
                        {"first_seed", end.first_seed}};
    ordered_json outputs = ordered_json::array();
    for (const TestOutput& output : end.outputs) {
      outputs.push_back({{"runs", output.runs}, {"first_seed", output.first_seed}});
    }
    for (const std::string& sentence : end.blocked) {
      row["blocked"].push_back(printable(sentence));
    }
    row["outputs"] = std::move(outputs);
    if (!each.file.empty()) {
      row["schedule"] = printable(each.file);
    }
    if (!each.replay.empty()) {
      row["replay"] = printable(each.replay);
    }
    json["ends"].push_back(std::move(row));
  }
  return json.dump(2) + "\n";
}

Status check_usage(const Options& options) {
  if (!options.extras.empty()) {
    const std::string& word = options.extras.front();
    return Status::usage(word.starts_with('-') ? "test has no option `" + word + "`. Try `sooth test --help`."
                                               : "write `--` in front of the program: `sooth test -- " + word + "`");
  }
  if (program_words().empty()) {
    return Status::usage("test needs a program: `sooth test [OPTIONS] -- PROGRAM ARGUMENTS`");
  }
  return {};
}

Result<TestResult> run_campaign(const ControlledProgram& program, const Options& options) {
  const WorkLimit limit(options.flags.budget);
  Progress progress("testing", Progress::terminal(), "runs");
  ControlledRunOptions run;
  run.timeout = options.flags.timeout;
  run.cancel = &WorkLimit::interrupt();
  TestOptions test;
  test.strategy = options.strategy;
  test.runs = options.runs;
  test.seed = options.flags.seed;
  test.jobs = options.flags.jobs;
  test.shard = options.flags.shard;
  test.shards = options.flags.shards;
  test.cancelled = [&] { return limit.reached(); };
  test.on_run = [&](std::uint64_t runs) {
    progress.update(runs, runs, (options.runs + test.shards - 1) / test.shards);
  };
  CodeNames names(program.path());
  TestTally tally(shell_words(program.words()), names);
  return run_tests([&](const RunPlan& plan) { return program.run(plan, run); }, tally, test);
}

CommandResult run_test(const Options& options) {
  SOOTH_RETURN_IF_ERROR(check_usage(options));
  const Result<ControlledProgram> program = ControlledProgram::prepare(program_words());
  if (!program.ok()) {
    return program.status();
  }
  for (const std::string& note : program->notes()) {
    say(note);
  }
  const Result<TestResult> result = run_campaign(*program, options);
  if (!result.ok()) {
    return result.status();
  }
  if (result->runs > 0 && result->uncontrolled == result->runs) {
    say(std::string("warning: nothing was controlled. ") + kHowToInstrument);
  }
  const Result<std::vector<Shown>> ends = prepare_ends(*result, program->words(), options);
  if (!ends.ok()) {
    return ends.status();
  }
  const std::string text = (options.format == "json" ? as_json : as_text)(*result, *ends, program->words(), options);
  if (options.output.empty()) {
    std::cout << text;
  } else {
    SOOTH_RETURN_IF_ERROR(write_whole_file(options.output, text));
  }
  return result->found() ? ExitCode::kFindings : ExitCode::kOk;
}

void check_strategy(const std::string& text) {
  StrategySpec spec;
  if (text.find('\0') != std::string::npos || !parse_strategy(text.c_str(), spec) ||
      spec.kind == StrategyKind::kSerial) {
    throw CLI::ValidationError("--strategy",
                               "\"" + text + "\" is none of random, pct:D and directed; pct takes a depth from 1 to " +
                                   std::to_string(kMaxPctDepth) + ", like pct:3");
  }
}

}  // namespace

void add_test_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("test", "Run a program under many schedules and look for failures");
  auto options = std::make_shared<Options>();
  command
      ->add_option_function<std::string>(
          "--strategy", [options](const std::string& text) { check_strategy(options->strategy = text); },
          "random: any thread at every synchronisation. pct:D: by random priorities that change D-1 times, for bugs of "
          "depth D")
      ->type_name("random|pct:D")
      ->default_str(options->strategy);
  add_count_option(*command, "--runs", options->runs, "How many");
  add_campaign_options(*command, options->flags);
  command
      ->add_option("--schedules", options->schedules,
                   "Write a schedule file for each kind of failure into this directory")
      ->type_name("DIR");
  command->add_option("--format", options->format, "How to print the result")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write the result to a file")->type_name("FILE");
  command->footer(
      "Usage: sooth test [OPTIONS] -- PROGRAM ARGUMENTS. Exit status: 66 when a run crashed, complained, deadlocked, "
      "hung or\n"
      "had another exit status than most, else 0. Ctrl-C ends it early and prints what was found. docs/replay.md.");
  command->allow_extras();
  command->callback([options, command, &result] {
    options->extras = command->remaining();
    result = run_test(*options);
  });
}

}  // namespace sooth
