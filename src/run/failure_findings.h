// Runs that failed, as findings: a crash, a deadlock or a hang of any run is one of its own, on the rung `harmful`.
// Callers hand in every run that they make; runs that failed in the same way at the same place are one finding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "confirm/code_names.h"
#include "confirm/minimize.h"
#include "confirm/outcome.h"
#include "race/finding.h"
#include "report/identity.h"
#include "run/record_program.h"
#include "schedule/protocol.h"
#include "schedule/schedule_file.h"

namespace sooth {

// Where a thread stood when a run failed.
struct StoppedThread {
  std::uint32_t thread = 0;
  control::BlockedOn on = control::BlockedOn::kUnknown;  // what it waits for, in a deadlock
  std::optional<std::uint32_t> holder;                   // the thread that has it
  std::uint64_t object = 0;                              // its address; 0: unknown
  std::string name;                                      // ... and name
  std::vector<Site> stack;                               // innermost first; empty: unknown
};

// How a run ended, and all that is known of it.
struct EndedRun {
  Outcome outcome;
  bool recorded = false;  // the recorded run, else a controlled one
  bool by_delay = false;  // a thread that could run was kept from it for longer than a time-out; was_delayed()
  std::vector<StoppedThread> threads;
};

// A failure is a crash, a deadlock, a hang, or a complaint of an assertion, the C++ run time, glibc or a sanitizer. An
// exit status alone is none: only the program knows what it means. nullopt: the run did not fail. The finding has an id.
std::optional<Finding> failure_of(const EndedRun& run, Identifier& identifier);
// The innermost places, and the locks of a deadlock as far as the run knows their names: where ids go by places further
// out if these are known.
std::string failure_key(const Finding& failure);
// Whether two of these keys may be of the same failure: a controlled run does not know all names.
bool is_same_failure(std::string_view key, std::string_view other);

// The same of a controlled run; `names` of the program.
EndedRun ended_run(const RunOutcome& run, CodeNames& names);
// Of a recorded run; nullopt: it reached its end, or somebody else ended it. A deadlock is one that the run time
// library saw, a hang one that record_program() ended.
std::optional<EndedRun> ended_run(const ProgramEnd& end, bool timed_out, const std::vector<MadeRecording>& made);

// For the list of recordings: "status 0", "signal 6 (Aborted)", "a deadlock"; "a hang" when its time was over. `failed`:
// its ended_run().
std::string how_ended(const ProgramEnd& end, const std::optional<EndedRun>& failed);

// How to make the failure happen again: the first run that is added with a schedule is kept.
struct FailureReplay {
  std::string command;
  std::string strategy;
  std::uint64_t seed = 0;
  std::string schedule;                                          // text of the schedule file
  std::vector<std::string> preemptions = {}, older_values = {};  // as those of ReplaySummary
};

// Sorts failures of runs that come one after the other. The order of the runs is that of the findings.
class FailureTally {
 public:
  explicit FailureTally(const IdentityOptions& identity = {}) : identifier_(identity) {}

  // The failure of the run, with its id.
  std::optional<Finding> failure_of(const EndedRun& run) { return sooth::failure_of(run, identifier_); }
  // Counts a run. The id of its failure; empty: it did not fail. A failure that some run shows without a delay is not
  // `by_delay`. `replay` may be empty. `times`: so many runs that are alike.
  std::string add(const EndedRun& run, const FailureReplay& replay = {}, std::uint64_t times = 1);
  // Controlled runs that did not fail.
  void add_good_runs(std::uint64_t runs) { controlled_ += runs; }
  // A race that happened in the run whose failure has this id, before it failed.
  void may_be_caused_by(const std::string& failure, const std::string& race);

  std::uint64_t controlled_runs() const { return controlled_; }
  const std::vector<Finding>& findings() const { return findings_; }
  // Puts the findings into the report: in front, and those that need a delay last. Equal ones of the report, such as a
  // deadlock that was predicted, are merged with them.
  void move_to(Report& report);

 private:
  Identifier identifier_;
  std::vector<Finding> findings_;
  std::uint64_t controlled_ = 0;
};

// Collects failures of controlled runs that are made in several threads, in any order. Hangs of runs that were steered
// do not count. Thread safe.
class FailureLog {
 public:
  // `program`: path of the executable.
  explicit FailureLog(const std::string& program, const IdentityOptions& identity = {})
      : names_(program), identifier_(identity) {}

  void add(const RunPlan& plan, const RunOutcome& run);
  // A sentence on each exit status but `usual` with which runs ended that did not fail otherwise, if others had that one:
  // what it means only the program knows. `is_told`: a finding tells of runs that ended so. `words`: the program as typed.
  std::vector<std::string> other_statuses(int usual, const std::string& words, const std::function<bool(int)>& is_told);
  // Whether some run had the failure with this failure_key().
  bool has(const std::string& key);
  // Repeats failures with fewer preemptions, and keeps the schedules that have the fewest. Not of hangs, which would take
  // too long. A run that cannot be made ends it.
  void minimize(const MakeRun& run, const MinimizeOptions& options);
  // In an order that does not depend on that of add(). `words`: the program as typed; `report_name`: the file that the
  // report goes to, for commands.
  void move_to(FailureTally& tally, const std::string& words, const std::string& report_name);

 private:
  struct Kept {
    EndedRun run;
    ScheduleFile schedule;                  // of the run with the lowest seed
    bool woken_for_no_reason = false;       // ... that run
    std::vector<std::string> older_values;  // what its atomics saw that was not the newest
    bool minimized = false;                 // the schedule is one with fewer preemptions
    std::vector<std::string> preemptions;   // these
    std::uint64_t times = 0;
    std::string id;
  };
  // Runs that ended with one exit status.
  struct Exits {
    std::uint64_t times = 0;
    RunPlan plan;             // of one of them
    std::string schedule;     // ... its name_of_schedule()
    bool takes_more = false;  // ... it had old values of atomics, or a spurious wake-up
  };
  void note_exit(const RunPlan& plan, const RunOutcome& run, const Outcome& outcome);

  std::mutex mutex_;
  CodeNames names_;
  Identifier identifier_;
  std::map<int, Exits> exits_;        // by the status
  std::map<std::string, Kept> kept_;  // by failure_key()
  std::uint64_t good_ = 0;
};

// Races of the report that the recorded run itself left unordered, and in which a thread of its failure took part.
void link_recorded_races(const EndedRun& run, const Report& report, const std::string& failure, FailureTally& tally);

}  // namespace sooth
