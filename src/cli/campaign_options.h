// The flags of every command that runs a program many times, and how such a command is stopped.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <CLI/CLI.hpp>

namespace sooth {

struct CampaignFlags {
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;                     // never 0 after parsing
  std::chrono::milliseconds timeout{60'000};  // of one run
  std::chrono::milliseconds budget{0};        // of the whole; 0: none
  std::uint32_t shard = 1, shards = 1;
};

// Adds --jobs, --timeout and --budget.
void add_run_options(CLI::App& command, CampaignFlags& flags);
// Adds --seed, --jobs, --timeout, --budget and --shard to `command`; `flags` must live as long as it.
void add_campaign_options(CLI::App& command, CampaignFlags& flags);

// While one exists, SIGINT, SIGTERM and SIGHUP end the work early instead of the process, so that what was found is not lost; a second
// one ends the process. One at a time. `budget` counts from its construction.
class WorkLimit {
 public:
  explicit WorkLimit(std::chrono::milliseconds budget);
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

  // No more work is to be started. From any thread.
  bool reached() const { return interrupted() || out_of_time(); }
  bool interrupted() const { return interrupt().load(std::memory_order_relaxed); }
  bool out_of_time() const;
  // What is under way is to be given up.
  static const std::atomic<bool>& interrupt();

 private:
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace sooth
