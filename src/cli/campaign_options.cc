#include "cli/campaign_options.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/usage.h"
#include "launch/engine.h"
#include "launch/preflight.h"

namespace sooth {
namespace {

bool parse_number(std::string_view text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void add_jobs_option(CLI::App& command, CampaignFlags& flags) {
  flags.jobs = std::max(1u, std::thread::hardware_concurrency());
  add_count_option(command, "--jobs", flags.jobs, "Runs of the program at a time")
      ->check(CLI::PositiveNumber)
      ->default_str("the number of cores");
}

void add_run_options(CLI::App& command, CampaignFlags& flags) {
  add_jobs_option(command, flags);
  add_duration_option(command, "--timeout", flags.timeout,
                      "A run that takes longer is killed, and counts as a hang; 0: never",
                      std::to_string(flags.timeout.count() / 1000) + "s");
  add_duration_option(command, "--budget", flags.budget, "Start no more runs after this time", "none");
}

void add_compare_options(CLI::App& command, CampaignOptions& campaign) {
  command
      .add_option("--compare", campaign.compared,
                  "A race is also harmful when the order of its two accesses decides what is in this file or, with "
                  "\"-\", what the "
                  "program prints. May be repeated; with files, runs are made one at a time")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option_function<std::vector<std::string>>(
          "--mask",
          [&campaign](const std::vector<std::string>& patterns) {
            Result<OutputMask> mask = OutputMask::of(patterns);
            if (!mask.ok()) {
              throw CLI::ValidationError("--mask", mask.status().message());
            }
            campaign.mask = std::move(*mask);
          },
          "--compare ignores matches of this regular expression. What differs between runs of one schedule is ignored "
          "anyway")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::uint32_t jobs_for(const CampaignOptions& campaign, std::uint32_t jobs) {
  const bool has_files = std::any_of(campaign.compared.begin(), campaign.compared.end(),
                                     [](const std::string& each) { return each != kItsOutput; });
  return has_files ? 1 : jobs;
}

void add_campaign_options(CLI::App& command, CampaignFlags& flags) {
  add_count_option(command, "--seed", flags.seed,
                   "Of the first run; every further run takes the next. Equal seeds give equal runs");
  add_run_options(command, flags);
  command
      .add_option_function<std::string>(
          "--shard",
          [&flags](const std::string& text) {
            const std::size_t slash = text.find('/');
            std::uint32_t shard = 0, shards = 0;
            if (slash == std::string::npos || !parse_number(std::string_view(text).substr(0, slash), shard) ||
                !parse_number(std::string_view(text).substr(slash + 1), shards) || shard == 0 || shard > shards) {
              throw CLI::ValidationError("--shard", "\"" + text + "\" is not K/N with K from 1 to N, like 2/4");
            }
            flags.shard = shard;
            flags.shards = shards;
          },
          "Do only the K-th of N equal parts of the work, for N machines")
      ->type_name("K/N")
      ->default_str("1/1");
}

void add_memory_model_option(CLI::App& command, CampaignFlags& flags, const std::vector<std::string>& names) {
  const bool has_auto = names.front() == kAutoMemoryModel;
  std::string type;
  for (const std::string& name : names) {
    type += (type.empty() ? "" : "|") + name;
  }
  command
      .add_option("--memory-model", flags.memory_model,
                  std::string("sc: threads take turns, and atomic loads see the newest value. c11: also older ones, as "
                              "far as their memory orders allow: docs/weak-memory.md") +
                      (has_auto ? ". auto: some runs as c11 if the program has atomics whose orders allow it" : ""))
      ->check(one_of(names))
      ->type_name(type)
      ->capture_default_str();
}

void use_engine_of(const Report& report) {
  Engine used = Engine::kHooks;
  if (engine_from_name(report.engine, used)) {
    choose_engine(used);
  }
}

Result<ControlledProgram> prepare_campaign_program() {
  Result<ControlledProgram> program = ControlledProgram::prepare(program_words());
  if (!program.ok()) {
    return program;
  }
  if (!program->instrumented()) {
    return Status::bad_input(program->path() + " is not instrumented. " + kHowToInstrument);
  }
  for (const std::string& note : program->notes()) {
    say(note);
  }
  return program;
}

}  // namespace sooth
