// The flags of every command that runs a program many times.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "confirm/campaign.h"
#include "launch/controlled_run.h"
#include "race/finding.h"

namespace sooth {

// Of `sooth run` alone: c11 where that can matter.
inline constexpr char kAutoMemoryModel[] = "auto";

struct CampaignFlags {
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;                     // never 0 after parsing
  std::chrono::milliseconds timeout{60'000};  // of one run
  std::chrono::milliseconds budget{0};        // of the whole; 0: none
  std::uint32_t shard = 1, shards = 1;
  std::string memory_model = "sc";

  // Of test and explore.
  bool weak_memory() const { return memory_model == "c11"; }
};

// Adds --jobs to `command`; `flags` must live as long as it.
void add_jobs_option(CLI::App& command, CampaignFlags& flags);
// Adds --jobs, --timeout and --budget; likewise.
void add_run_options(CLI::App& command, CampaignFlags& flags);
// Adds --compare and --mask, which go to `compared` and `mask` of `campaign`; likewise.
void add_compare_options(CLI::App& command, CampaignOptions& campaign);
// The jobs that this leaves: runs that write the same files are made one after the other.
std::uint32_t jobs_for(const CampaignOptions& campaign, std::uint32_t jobs);
// Adds --seed, --jobs, --timeout, --budget and --shard; likewise.
void add_campaign_options(CLI::App& command, CampaignFlags& flags);

// Adds --memory-model with these names; likewise.
void add_memory_model_option(CLI::App& command, CampaignFlags& flags,
                             const std::vector<std::string>& names = {"sc", "c11"});

// Programs run from here on as the one that the report is about did.
void use_engine_of(const Report& report);

// The program behind `--`, ready to be run under control; says what the user should know about it. Refuses one that is
// not instrumented.
Result<ControlledProgram> prepare_campaign_program();

}  // namespace sooth
