// sooth test: schedule fuzzing. Runs a program under many schedules and tells in how many ways it can end.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/fnv1a.h"
#include "base/suggest.h"
#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_command.h"
#include "cli/progress.h"
#include "cli/test_pairs.h"
#include "cli/usage.h"
#include "confirm/auto_tests.h"
#include "confirm/directed_tests.h"
#include "confirm/minimize.h"
#include "confirm/replay.h"
#include "confirm/shell_words.h"
#include "confirm/test_campaign.h"
#include "confirm/test_corpus.h"
#include "launch/preflight.h"
#include "report/describe.h"
#include "report/files.h"
#include "run/merge_tests.h"
#include "run/work_limit.h"
#include "schedule/strategy.h"

namespace sooth {
namespace {

constexpr std::size_t kSeedsShown = 5;
constexpr char kDirected[] = "directed";
constexpr char kAuto[] = "auto";
constexpr char kSurw[] = "surw";

struct TestFlags {
  CampaignFlags flags;
  std::string strategy = kAuto;
  std::uint64_t runs = 1000;
  std::string schedules;  // directory
  std::string corpus;     // likewise
  bool minimize = false;
  bool until_failure = false;
  std::string format = "text";
  std::string output;
};

// It plans runs by what those before them showed.
bool plans_by_results(const std::string& strategy) { return strategy == kAuto || strategy == kRffStrategy; }

// An end or a race, with what to type to see it again.
struct Shown {
  std::string file;    // of its schedule; empty: none was written
  std::string replay;  // empty: only a schedule file would do
};

struct AllShown {
  std::vector<Shown> ends, races;  // parallel to those of the result
  std::vector<Shown> fewest;       // of ends, parallel to them
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

// Writes the schedule to NAME in the user's directory, if there is one and `wanted`, and makes the line that repeats
// it.
Result<Shown> show(const ScheduleFile& schedule, const std::string& name, bool wanted, const TestFlags& options) {
  Shown shown;
  if (wanted && !options.schedules.empty()) {
    shown.file = options.schedules + "/" + name + "-" + std::to_string(schedule.plan.seed) + ".schedule";
    SOOTH_RETURN_IF_ERROR(write_whole_file(shown.file, print_schedule(schedule)));
  }
  const std::string what = shown.file.empty() ? name_of_schedule(schedule) : shown.file;
  shown.replay = what.empty() ? "" : "sooth replay " + shell_word(what) + " -- " + shell_words(program_words());
  return shown;
}

Result<AllShown> show_all(const TestResult& result, const TestFlags& options) {
  if (!options.schedules.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.schedules, error);
    if (error) {
      return Status::bad_input("cannot make the directory " + options.schedules + ": " + error.message());
    }
  }
  AllShown all;
  for (const TestEnd& end : result.ends) {
    Result<Shown> shown = show(end.schedule, kind_name(end), end.failure, options);
    if (!shown.ok()) {
      return shown.status();
    }
    all.ends.push_back(std::move(*shown));
    Result<Shown> fewest =
        end.fewest ? show(end.fewest->schedule, kind_name(end) + "-fewest", true, options) : Result<Shown>(Shown());
    if (!fewest.ok()) {
      return fewest.status();
    }
    all.fewest.push_back(std::move(*fewest));
  }
  for (const TestRace& race : result.races) {
    Result<Shown> shown = show(race.schedule, "race", race.hits > 0, options);
    if (!shown.ok()) {
      return shown.status();
    }
    all.races.push_back(std::move(*shown));
  }
  return all;
}

std::string headline(const TestResult& result, const TestFlags& options) {
  std::uint64_t failures = 0, kinds = 0;
  for (const TestEnd& end : result.ends) {
    failures += end.failure ? end.runs : 0;
    kinds += end.failure ? 1 : 0;
  }
  std::string text = counted(result.runs, "run", "runs") + " of " + printable(shell_words(program_words())) + " (" +
                     options.strategy + ", from seed " + std::to_string(options.flags.seed) +
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

// "3 different outputs, first with the seeds 1, 4 and 9"; of `auto` "first with the seeds random@1, 4 and pos@9".
std::string describe_outputs(const TestEnd& end, bool is_auto) {
  std::vector<std::string> seeds;
  for (std::size_t i = 0; i < end.outputs.size() && i < kSeedsShown; ++i) {
    const TestOutput& output = end.outputs[i];
    seeds.push_back(is_auto && !output.first.empty() ? output.first : std::to_string(output.first_seed));
  }
  const bool full = end.outputs.size() >= kMaxOutputs;
  return (full ? "at least " : "") + std::to_string(end.outputs.size()) + " different outputs, " +
         (end.outputs.size() > kSeedsShown ? "the first of them" : "first") + " with the seeds " + listed(seeds);
}

std::string again(std::uint64_t seed, const Shown& shown) {
  return "  first with seed " + std::to_string(seed) +
         (shown.replay.empty() ? "; --schedules DIR writes a schedule to replay\n"
                               : "; again: " + printable(shown.replay) + "\n");
}

// "  1 preemption is enough, where there were 7:" and what it is.
std::string fewest_as_text(const FewestPreemptions& fewest, const Shown& shown) {
  std::string text = "  " + counted(fewest.preemptions, "preemption is enough", "preemptions are enough") +
                     ", where there " + (fewest.before == 1 ? "was 1" : "were " + std::to_string(fewest.before)) +
                     (fewest.is_minimal ? "" : "; perhaps fewer are") + (fewest.sentences.empty() ? "\n" : ":\n");
  for (const std::string& sentence : fewest.sentences) {
    text += "    " + printable(sentence) + "\n";
  }
  return text + (shown.replay.empty() ? "" : "    again: " + printable(shown.replay) + "\n");
}

std::string races_as_text(const TestResult& result, const AllShown& shown) {
  std::uint64_t created = 0;
  std::string text;
  for (std::size_t i = 0; i < result.races.size(); ++i) {
    const TestRace& race = result.races[i];
    if (race.hits > 0) {
      ++created;
      text += "\nrace between " + race.first + " and " + race.second + ": created in " + std::to_string(race.hits) +
              " of " + counted(race.trials, "run", "runs") + "\n" + again(race.first_seed, shown.races[i]);
    }
  }
  return "\n" + counted(result.races.size(), "pair", "pairs") + " that may race, " + std::to_string(created) +
         " created\n" + text;
}

// What the runs of `auto` showed, and whether more would.
std::string coverage_as_text(const TestCoverage& coverage) {
  std::vector<std::string> shares;
  for (const TestCoverage::Share& share : coverage.shares) {
    shares.push_back(std::to_string(share.runs) + " " + share.strategy);
  }
  char chance[32];
  std::snprintf(chance, sizeof chance, "%.2g", 100 * coverage.chance_of_new());
  std::string text = "\n" + counted(coverage.schedules, "different order", "different orders") +
                     " of what threads do at the same objects, " + counted(coverage.orders, "pair", "pairs") +
                     " of places in them" +
                     (coverage.orders == 0 ? "" : ", the last new one in run " + std::to_string(coverage.last_new)) +
                     "; runs: " + listed(shares) + "\n";
  return text + "estimate: another run shows a new order with probability " + chance + " %\n";
}

std::string as_text(const TestResult& result, const AllShown& shown, const TestFlags& options) {
  std::string text = headline(result, options);
  for (std::size_t i = 0; i < result.ends.size(); ++i) {
    const TestEnd& end = result.ends[i];
    text += "\n" + counted(end.runs, "run", "runs") + ": " + printable(end.outcome.describe()) + "\n";
    for (const std::string& sentence : end.blocked) {
      text += "  " + printable(sentence) + "\n";
    }
    if (end.failure && !end.older.empty()) {
      text += end.weak == end.runs ? "  only where atomics saw something else than the newest; in the first such run:\n"
                                   : "  in the first such run:\n";
      for (const std::string& sentence : end.older) {
        text += "    " + printable(sentence) + "\n";
      }
    }
    text += is_by_delay(end) ? "  only when a thread was kept from running for more than 0.1 s, until a sleep or "
                               "time-out of another was over\n"
                             : "";
    text += end.failure ? again(end.first_seed, shown.ends[i]) : "";
    text += end.fewest ? fewest_as_text(*end.fewest, shown.fewest[i]) : "";
    if (end.outputs.size() > 1) {
      text += "  " + describe_outputs(end, result.coverage.has_value()) + "\n";
    }
  }
  text += options.strategy == kDirected || !result.races.empty() ? races_as_text(result, shown) : "";
  text += result.coverage ? coverage_as_text(*result.coverage) : "";
  if (result.corpus) {
    text += "corpus: " + counted(result.corpus->repeated, "schedule", "schedules") + " repeated, " +
            std::to_string(result.corpus->removed) + " of them left out from now on, " +
            std::to_string(result.corpus->added) + " added\n";
  }
  return text;
}

void add_shown(nlohmann::ordered_json& row, const Shown& shown) {
  if (!shown.file.empty()) {
    row["schedule"] = printable(shown.file);
  }
  if (!shown.replay.empty()) {
    row["replay"] = printable(shown.replay);
  }
}

nlohmann::ordered_json end_as_json(const TestEnd& end, const Shown& shown, const Shown& shown_fewest, bool is_auto) {
  nlohmann::ordered_json row = {{"kind", kind_name(end)},
                                {"number", end.outcome.number},
                                {"description", printable(end.outcome.describe())},
                                {"failure", end.failure},
                                {"runs", end.runs},
                                {"delayed", end.delayed},
                                {"first_seed", end.first_seed},
                                {"key", hexadecimal(fnv1a(end.key))}};
  for (const std::string& sentence : end.blocked) {
    row["blocked"].push_back(printable(sentence));
  }
  if (end.failure && !end.older.empty()) {
    row["weak_runs"] = end.weak;
    for (const std::string& sentence : end.older) {
      row["older_values"].push_back(printable(sentence));
    }
  }
  row["outputs"] = nlohmann::ordered_json::array();
  for (const TestOutput& output : end.outputs) {
    row["outputs"].push_back(
        {{"runs", output.runs}, {"first_seed", output.first_seed}, {"hash", hexadecimal(output.hash)}});
    if (is_auto && !output.first.empty()) {
      row["outputs"].back()["first"] = output.first;
    }
  }
  add_shown(row, shown);
  if (end.fewest) {
    nlohmann::ordered_json& fewest = row["fewest"] = {{"preemptions", end.fewest->preemptions},
                                                      {"before", end.fewest->before},
                                                      {"runs", end.fewest->runs},
                                                      {"minimal", end.fewest->is_minimal},
                                                      {"steps", nlohmann::ordered_json::array()}};
    for (const std::string& sentence : end.fewest->sentences) {
      fewest["steps"].push_back(printable(sentence));
    }
    add_shown(fewest, shown_fewest);
  }
  return row;
}

std::string as_json(const TestResult& result, const AllShown& shown, const TestFlags& options) {
  using nlohmann::ordered_json;
  ordered_json json = {{"schema", kTestSchema},
                       {"program", printable(shell_words(program_words()))},
                       {"strategy", options.strategy},
                       {"seed", options.flags.seed},
                       {"memory_model", options.flags.memory_model},
                       {"shard", options.flags.shard},
                       {"shards", options.flags.shards},
                       {"runs", result.runs},
                       {"planned", result.planned},
                       {"external", result.external}};
  json["ends"] = ordered_json::array();
  for (std::size_t i = 0; i < result.ends.size(); ++i) {
    json["ends"].push_back(end_as_json(result.ends[i], shown.ends[i], shown.fewest[i], result.coverage.has_value()));
  }
  json["races"] = ordered_json::array();
  for (std::size_t i = 0; i < result.races.size(); ++i) {
    const TestRace& race = result.races[i];
    ordered_json row = {{"first", race.first}, {"second", race.second}, {"trials", race.trials}, {"hits", race.hits}};
    if (race.hits > 0) {
      row["first_seed"] = race.first_seed;
      add_shown(row, shown.races[i]);
    }
    json["races"].push_back(std::move(row));
  }
  if (result.coverage) {
    const TestCoverage& coverage = *result.coverage;
    ordered_json& row = json["coverage"] = {
        {"runs", coverage.runs},      {"orders", coverage.orders},     {"schedules", coverage.schedules},
        {"seen_once", coverage.once}, {"last_new", coverage.last_new}, {"chance_of_new", coverage.chance_of_new()}};
    for (const TestCoverage::Share& share : coverage.shares) {
      row["shares"].push_back({{"strategy", share.strategy}, {"runs", share.runs}, {"brought", share.brought}});
    }
  }
  if (result.corpus) {
    json["corpus"] = {
        {"repeated", result.corpus->repeated}, {"removed", result.corpus->removed}, {"added", result.corpus->added}};
  }
  return json.dump(2) + "\n";
}

// The first run has no numbers, and gives them to the others.
Result<TestResult> run_uniform_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run, TestTally& tally,
                                     TestOptions options) {
  RunPlan first;
  first.strategy = options.strategy;
  first.seed = options.seed;
  const Result<RunOutcome> measured = run(first);
  if (!measured.ok()) {
    return measured.status();
  }
  if (!measured->log.processes.empty()) {
    options.strategy = surw_of(measured->log.processes.front());
  }
  return run_tests(run, tally, options);
}

// Runs that fail end soon; what a schedule with fewer preemptions leads to need not.
constexpr std::chrono::milliseconds kLongestWhileMinimizing{5'000};

Status minimize_ends(const ControlledProgram& program, ControlledRunOptions run, const WorkLimit& limit,
                     CodeNames& names, TestResult& result) {
  run.timeout = run.timeout.count() == 0 ? kLongestWhileMinimizing : std::min(run.timeout, kLongestWhileMinimizing);
  MinimizeOptions minimize;
  minimize.cancelled = [&] { return limit.reached(); };
  const auto run_once = [&](const RunPlan& plan) { return program.run(plan, run); };
  for (TestEnd& end : result.ends) {
    // Of a hang every run would take as long.
    if (!end.failure || end.outcome.kind == Outcome::Kind::kHung || limit.reached()) {
      continue;
    }
    const auto fails_alike = [&](const RunOutcome& made) { return end_key(made, names) == end.key; };
    Result<std::optional<FewestPreemptions>> fewest =
        fewest_preemptions(run_once, fails_alike, end.schedule, names, minimize);
    if (!fewest.ok()) {
      return fewest.status();
    }
    end.fewest = std::move(*fewest);
  }
  return {};
}

Result<TestResult> run_campaign(const ControlledProgram& program, const TestFlags& options) {
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
  test.until_failure = options.until_failure;
  test.cancelled = [&] { return limit.reached(); };
  test.on_run = [&](std::uint64_t runs) {
    progress.update(runs, runs, (options.runs + test.shards - 1) / test.shards);
  };
  CodeNames names(program.path());
  const std::uint32_t flags = options.flags.weak_memory() ? control::kWeakMemory : 0;
  TestTally tally(shell_words(program.words()), names, flags);
  std::optional<TestCorpus> corpus;
  if (!options.corpus.empty()) {
    Result<TestCorpus> opened = TestCorpus::open(options.corpus, program.path());
    if (!opened.ok()) {
      return opened.status();
    }
    test.corpus = &corpus.emplace(std::move(*opened));
  }
  const auto run_once = [&](RunPlan plan) {
    plan.flags |= flags;
    return program.run(plan, run);
  };
  const auto find_pairs = [&](std::uint64_t seed) { return find_test_pairs(program, seed, run.timeout, run.cancel); };
  Result<TestResult> result = options.strategy == kSurw       ? run_uniform_tests(run_once, tally, test)
                              : options.strategy == kDirected ? run_directed_tests(run_once, find_pairs, tally, test)
                              : plans_by_results(options.strategy) ? run_auto_tests(run_once, find_pairs, tally, test)
                                                                   : run_tests(run_once, tally, test);
  if (result.ok() && options.minimize) {
    SOOTH_RETURN_IF_ERROR(minimize_ends(program, run, limit, names, *result));
  }
  return result;
}

CommandResult run_test(const TestFlags& options) {
  if (!options.corpus.empty() && !plans_by_results(options.strategy)) {
    return Status::usage("--corpus goes with --strategy auto and rff: no other looks at what runs show");
  }
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
  const Result<AllShown> shown = show_all(*result, options);
  if (!shown.ok()) {
    return shown.status();
  }
  const std::string text = (options.format == "json" ? as_json : as_text)(*result, *shown, options);
  if (options.output.empty()) {
    std::cout << text;
  } else {
    SOOTH_RETURN_IF_ERROR(write_whole_file(options.output, text));
  }
  const bool raced =
      std::any_of(result->races.begin(), result->races.end(), [](const TestRace& race) { return race.hits > 0; });
  return result->found() || raced ? ExitCode::kFindings : ExitCode::kOk;
}

void check_strategy(const std::string& text) {
  StrategySpec spec;
  if (text == kDirected || text == kAuto) {
    return;
  }
  if (text.find('\0') != std::string::npos || !parse_strategy(text.c_str(), spec) ||
      spec.kind == StrategyKind::kSerial) {
    throw CLI::ValidationError(
        "--strategy", "\"" + text +
                          "\" is none of auto, random, pct:D, pos, surw, rff, first:N, last:N and directed; pct "
                          "takes a depth from 1 to " +
                          std::to_string(kMaxPctDepth) + ", like pct:3." +
                          did_you_mean(text, std::vector<std::string>{kAuto, "random", "pct:", "pos", kSurw,
                                                                      kRffStrategy, kDirected}));
  }
}

}  // namespace

void add_test_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("test", "Run a program under many schedules and look for failures");
  auto options = std::make_shared<TestFlags>();
  command
      ->add_option_function<std::string>(
          "--strategy", [options](const std::string& text) { check_strategy(options->strategy = text); },
          "auto: the others but first and last share the runs by what they bring: orders that no run had before. "
          "random: any thread at every synchronisation. pct:D: by random priorities that change D-1 times, for bugs of "
          "depth D. pos: by random priorities of what threads are about to do. surw: each order of operations as "
          "likely as "
          "any other, going by how many of them the threads of a first run have. rff: as pos, steered to pairs of "
          "places, "
          "one right after the other, that no run has shown. first:N, last:N: thread N runs "
          "whenever it can, or only when no other can; threads are numbered from 0 as they are created. "
          "directed: records runs, finds pairs that may race, and steers runs into them")
      ->type_name("auto|random|pct:D|pos|surw|rff|first:N|directed")
      ->default_str(options->strategy);
  add_count_option(*command, "--runs", options->runs, "Schedules to run it under");
  add_memory_model_option(*command, options->flags);
  add_campaign_options(*command, options->flags);
  command
      ->add_option("--schedules", options->schedules,
                   "Write a schedule file for each kind of failure into this directory")
      ->type_name("DIR");
  command
      ->add_option("--corpus", options->corpus,
                   "Keep schedules that show something new in this directory, and begin with those that are there. For "
                   "auto and rff")
      ->type_name("DIR");
  command->add_flag("--until-failure", options->until_failure, "Start no more runs once one has failed");
  command->add_flag("--minimize", options->minimize,
                    "Find the fewest preemptions that lead to each failure, and say where they are");
  command->add_option("--format", options->format, "How to print the result")
      ->check(one_of({"text", "json"}))
      ->type_name("text|json")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write the result to a file")->type_name("FILE");
  command->footer(
      "Usage: sooth test [OPTIONS] -- PROGRAM ARGUMENTS. Exit status: 66 when a run crashed, complained, deadlocked, "
      "hung or\n"
      "had another exit status than most, or when a directed run created a race, else 0. Ctrl-C ends it early and\n"
      "prints what was found. docs/replay.md tells more.");
  run_with_program(*command, result, [options] { return run_test(*options); });
}

}  // namespace sooth
