// Not every bug is a race, or a cycle of locks: what `sooth explore` and `sooth test` do, for a while, once recordings of
// the program show nothing new.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "confirm/site_code.h"
#include "run/explore_stage.h"
#include "run/failure_findings.h"
#include "run/search_job.h"
#include "run/search_runs.h"
#include "run/stage_time.h"
#include "run/work_limit.h"

namespace sooth {

class ScheduleTests {
 public:
  // What recordings have shown, as far as it helps.
  struct Known {
    std::uint64_t events = 0;                   // of the longest recording
    std::vector<Access> accesses;               // of findings
    std::string trace;                          // a recording that may have more of them
    std::vector<PairCode> pairs;                // of races that were tried
    std::vector<std::vector<SiteCode>> splits;  // acquires between which others may come
  };

  // All of them must outlive it. Failures of the runs go to `failures`; `tell` hears what is being done, after every run.
  ScheduleTests(SearchRuns& runs, FailureLog& failures, const WorkLimit& limit, const SearchJob& job,
                std::function<void(const std::string&)> tell)
      : runs_(runs), failures_(failures), limit_(limit), job_(job), tell_(std::move(tell)) {}

  // All schedules, if the program is so small that they may fit into the time. nullopt: it is not; and of scripts and the
  // like, which start the programs that count: the explorer knows of one.
  std::optional<ExploreStageResult> explore(const Known& known);
  // Schedules of all strategies.
  void test(const Known& known);
  // Waits for a condition may end although nobody notifies. Programs must expect that, and hardly ever meet it.
  void test_spurious_wakes();
  // Atomics may see older values: what the machine at hand does not show.
  void test_weak_memory();
  // A recorded run cannot be replayed: looks for controlled ones that fail in the same way. `failed`: failure_key() each.
  void fail_again(const std::set<std::string>& failed);
  // Leaves preemptions out of the schedules that fail, so that people see what it takes.
  void minimize_failures();

 private:
  bool is_over(const StageTime& time, const StageTime& most, std::uint64_t runs, std::uint64_t least) const;
  // Schedules in which something may happen that a flag allows.
  struct Kind {
    std::uint32_t flag = 0;
    std::vector<std::string> strategies;  // in turn
    std::uint64_t runs = 0;               // at most
  };
  // Until `is_enough` of those that were made.
  void test_with(const Kind& kind, const std::string& what, const std::function<bool(std::uint64_t made)>& is_enough);
  void look_at_hang(const RunPlan& plan);

  SearchRuns& runs_;
  FailureLog& failures_;
  const WorkLimit& limit_;
  const SearchJob& job_;
  const std::function<void(const std::string&)> tell_;
};

}  // namespace sooth
