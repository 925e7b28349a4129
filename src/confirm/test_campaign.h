// Schedule fuzzing: runs a program under many schedules and sorts the runs by how they ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/code_names.h"
#include "confirm/minimize.h"
#include "confirm/outcome.h"
#include "confirm/portfolio.h"
#include "launch/controlled_run.h"
#include "schedule/schedule_file.h"

namespace sooth {

class TestCorpus;

struct TestOptions {
  std::string strategy = "random";  // as for parse_strategy()
  std::uint64_t runs = 1000;        // of all shards
  std::uint64_t seed = 1;           // of run 0; run i has seed + i
  std::uint32_t jobs = 1;
  TestCorpus* corpus = nullptr;                            // of `auto` and `rff`; nullptr: nothing is kept
  bool until_failure = false;                              // no more runs behind the first one that fails
  std::uint32_t shard = 1, shards = 1;                     // does runs shard - 1, shard - 1 + shards, ...
  std::function<bool()> cancelled = [] { return false; };  // no more runs are started; asked from several threads
  std::function<void(std::uint64_t runs)> on_run = [](std::uint64_t) {
  };  // after each run, from the thread of the caller
};

// Runs that printed the same.
struct TestOutput {
  std::uint64_t hash = 0;
  std::uint64_t runs = 0;
  std::uint64_t first_seed = 0;
  std::string first;  // as `sooth replay` takes it; empty: only a schedule file would do
};

// Runs that ended in the same way: by the same signal, status, deadlock or hang, with the same complaint.
struct TestEnd {
  std::string key;  // equal for runs that ended in the same way, also of other campaigns of the program
  Outcome outcome;  // of the first one
  std::vector<std::string> blocked;  // of a deadlock: a sentence for each thread of the first one
  std::vector<std::string> older;    // what atomics of the first one saw that was not the newest: describe_older()
  bool failure = false;  // a crash, a complaint, a deadlock, a hang, or an exit status that is not the usual one
  std::uint64_t runs = 0;
  std::uint64_t delayed = 0;   // of these, in which a thread that could run was kept from it for long (kUsualDelay)
  std::uint64_t spurious = 0;  // ... in which a wait for a condition ended for no reason; these are `delayed`, too
  std::uint64_t weak = 0;      // ... in which there was such a thing
  std::uint64_t first_seed = 0;
  ScheduleFile schedule;            // of the first one
  std::vector<TestOutput> outputs;  // by first seed; the first kMaxOutputs of them
  std::optional<FewestPreemptions> fewest;
};
inline constexpr std::size_t kMaxOutputs = 1000;

// It takes such a delay to fail so, as far as anybody has seen.
inline bool is_by_delay(const TestEnd& end) { return end.failure && end.delayed == end.runs; }

// Two places that directed runs were steered to (directed_tests.h).
struct TestRace {
  std::string first, second;
  std::uint64_t trials = 0, hits = 0;
  std::uint64_t first_seed = 0;  // of those that created the race
  ScheduleFile schedule;         // of that run
};

// What became of the schedules that were kept (test_corpus.h).
struct CorpusUse {
  std::uint64_t repeated = 0, removed = 0, added = 0;
};

struct TestResult {
  std::uint64_t runs = 0;                // made
  std::uint64_t planned = 0;             // of this shard
  std::uint64_t uncontrolled = 0;        // runs in which the run time library never came to life
  std::uint64_t external = 0;            // runs in which something from outside took part
  std::vector<TestEnd> ends;             // failures first, those that take a delay behind them, then by first seed
  std::vector<TestRace> races;           // of directed runs, in the order in which they were met
  std::optional<TestCoverage> coverage;  // of `auto`
  std::optional<CorpusUse> corpus;

  bool found() const { return !ends.empty() && ends.front().failure; }
};

// Sorts runs that come one after the other. The usual exit status is the most frequent one, of equally frequent ones
// the first.
class TestTally {
 public:
  // `program`: as typed, for schedules; `names` must outlive this.
  // `flags`: of every run, besides those of its plan.
  TestTally(std::string program, CodeNames& names, std::uint32_t flags = 0)
      : program_(std::move(program)), names_(names), flags_(flags) {}

  // Whether no run before ended so, or printed that.
  bool add(const RunPlan& plan, const RunOutcome& run);
  // Whether some end so far is a failure.
  bool has_failure() const;
  // How to make the run happen again.
  ScheduleFile schedule_of(const RunPlan& plan, const RunOutcome& run) const;
  // Ends the counting.
  TestResult finish();

 private:
  TestEnd& end_of(const RunPlan& plan, const RunOutcome& run);

  std::string program_;
  CodeNames& names_;
  std::uint32_t flags_;
  std::vector<std::string> keys_;  // of result_.ends
  TestResult result_;
};

// TestEnd::key of the run.
std::string end_key(const RunOutcome& run, CodeNames& names);

// How many runs the shard has.
std::uint64_t runs_of_shard(const TestOptions& options);

// Runs are judged in the order of their seeds, so the result does not depend on `jobs`. `run` is called from several
// threads. The error says why the program cannot be run; whatever it does is no error.
Result<TestResult> run_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run, TestTally& tally,
                             const TestOptions& options);

}  // namespace sooth
