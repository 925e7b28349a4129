#include "run/run_program.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "report/describe.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "run/analyze_source.h"
#include "run/coverage.h"
#include "run/failure_findings.h"
#include "run/merge_reports.h"
#include "run/work_limit.h"

namespace sooth {
namespace {

// Of the budget, from its start: when looking for witnesses ends, and when asking mcm does. The rest is for controlled
// runs.
constexpr double kWitnessShare = 0.3;
constexpr double kMcmShare = 0.5;

// Above it (some ten million events) the analyses that remember the most are left out: all of them together take a
// gigabyte for it.
constexpr std::uint64_t kLargeRecording = std::uint64_t{32} << 20;

std::string note_on_large() {
  std::vector<std::string> names(std::begin(kLeftOutOfLargeTraces), std::end(kLeftOutOfLargeTraces));
  return "The recording is large, so " + listed(names) + " were not asked (--with asks them).";
}

// A controlled run is slower than a recorded one. What takes longer than this is a hang.
std::chrono::milliseconds timeout_from(double recorded_seconds) {
  return std::chrono::milliseconds(10'000 + static_cast<std::int64_t>(std::min(recorded_seconds, 2.5) * 20'000));
}

// "12.3 s", "500 ms".
std::string seconds_text(std::chrono::milliseconds time) {
  if (time < std::chrono::seconds(1)) {
    return std::to_string(time.count()) + " ms";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(time.count()) / 1000);
  return text;
}

// The file name of the first word of a command line.
std::string name_of_program(const std::string& command) {
  const std::string word = command.substr(0, command.find(' '));
  return word.substr(word.rfind('/') + 1);
}

class Run {
 public:
  Run(const RunJob& job, const ProgramRecording& recording) : job_(job), recording_(recording), limit_(job.budget) {
    take_signals_again();  // now that limit_ takes them
  }
  // Whoever called has something to put away before a signal may end everything.
  ~Run() { hold_signals(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<RunResult> finish() {
    SOOTH_RETURN_IF_ERROR(analyze_all());
    confirm_all();
    RunResult result;
    result.end = recording_.end;
    result.interrupted = WorkLimit::signal();
    result.report = merge_reports(std::move(reports_));
    Report& report = result.report;
    add_failure(report);
    // Always so, and easily forgotten.
    report.not_covered.insert(report.not_covered.begin(),
                              {GapKind::kNotExecuted, "Code that the recorded run did not execute was not judged."});
    const std::vector<Gap> unrecorded = gaps_of_recording(recording_, job_.record.options);
    gaps_.insert(gaps_.begin(), unrecorded.begin(), unrecorded.end());
    const std::vector<Gap> missed = gaps_of_runs(report, control_);
    gaps_.insert(gaps_.end(), missed.begin(), missed.end());
    add_time();
    for (const Gap& gap : gaps_) {
      report.add_gap(gap.kind, gap.text);
    }
    add_stages(report);
    if (!job_.keeps_trace) {
      report.trace.clear();
    }
    return result;
  }

 private:
  // One report for each process that can be read.
  Status analyze_all() {
    Status first_error;
    for (const auto& [directory, completed] : recording_.made) {
      if (!completed.ok()) {
        first_error = first_error.ok() ? completed.status() : first_error;
        continue;
      }
      const bool large = completed->bytes > kLargeRecording && job_.analyses.empty();
      Result<Report> report = analyze(directory, large);
      if (!report.ok()) {
        first_error = first_error.ok() ? report.status() : first_error;
        gaps_.push_back({GapKind::kRecording, "A process was not analysed: " + report.status().message()});
        continue;
      }
      if (large) {
        report->add_gap(GapKind::kWindow, note_on_large());
      }
      fill_fingerprints(*report);
      merge_equal_findings(*report);
      reports_.push_back(std::move(*report));
    }
    return reports_.empty() ? first_error : Status();
  }

  Result<Report> analyze(const std::string& directory, bool large) const {
    const Result<std::string> names = job_.analyses.empty() ? analyses_for(directory, large) : job_.analyses;
    if (!names.ok()) {
      return names.status();
    }
    auto detectors = parse_detectors(*names);
    if (!detectors.ok()) {
      return std::move(detectors).status();
    }
    Result<TraceSource> source = open_source(directory, columns_for(*detectors));
    if (!source.ok()) {
      return std::move(source).status();
    }
    SOOTH_RETURN_IF_ERROR(check_source(*source, *detectors));
    AnalysisOptions options = job_.analysis;
    options.detectors = std::move(*detectors);
    options.progress = [&](std::uint64_t events) {
      if (job_.progress.analyzing) {
        job_.progress.analyzing(events, source->reader->bytes_read(), source->reader->bytes_total());
      }
    };
    options.cancelled = [&] { return limit_.interrupted(); };
    options.proof.progress = job_.progress.proving;
    options.proof.out_of_time = [&] { return limit_.reached(kWitnessShare); };
    options.mcm.progress = job_.progress.asking;
    options.mcm.out_of_time = [&] { return limit_.reached(kMcmShare); };
    options.recipe.progress = job_.progress.asking;
    options.recipe.out_of_time = options.mcm.out_of_time;
    return analyze_source(*source, std::move(options));
  }

  // Why no finding can be tried, as a sentence; empty when there are none, or they can.
  std::string why_not() const {
    const bool any = std::any_of(reports_.begin(), reports_.end(), [](const Report& report) {
      return std::any_of(report.findings.begin(), report.findings.end(), can_be_confirmed);
    });
    if (!any) {
      return "";
    }
    if (job_.confirm.options.campaign.trials == 0) {
      return "No controlled run was made (--trials 0).";
    }
    return recording_.interrupted
               ? "No controlled run was made: the recorded run was interrupted, and nobody would interrupt the others."
               : "";
  }

  void confirm_all() {
    if (const std::string why = why_not(); !why.empty()) {
      gaps_.push_back({GapKind::kTrials, why});
      return;
    }
    const Result<ControlledProgram> program = ControlledProgram::prepare(job_.record.words);
    std::set<std::string> reached;
    for (Report& report : reports_) {
      if (!std::any_of(report.findings.begin(), report.findings.end(), can_be_confirmed)) {
        continue;
      }
      const Status status = program.ok() ? confirm(report, *program, reached) : program.status();
      if (!status.ok()) {
        gaps_.push_back({GapKind::kTrials, "Findings could not be tried in controlled runs: " + status.message()});
        return;
      }
    }
  }

  Status confirm(Report& report, const ControlledProgram& program, std::set<std::string>& reached) {
    ConfirmJob job = job_.confirm;
    job.skip = reached;
    job.in_started_program =
        !program.instrumented() || name_of_program(report.program) != name_of_program(program.path());
    job.progress = job_.progress.confirming;
    job.timeout = job_.timeout.count() != 0 ? job_.timeout : timeout_from(recording_.seconds);
    const auto start = std::chrono::steady_clock::now();
    const Result<ConfirmResult> result = confirm_findings(report, program, limit_, std::move(job));
    confirm_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!result.ok()) {
      return result.status();
    }
    control_.runs += result->control.runs;
    control_.external += result->control.external;
    control_.truncated += result->control.truncated;
    for (const Finding& finding : report.findings) {
      if (finding.rung >= Rung::kConfirmed) {
        reached.insert(finding.id);
      }
    }
    return {};
  }

  // The recorded run may have failed itself.
  void add_failure(Report& report) {
    if (const std::optional<EndedRun> ended = ended_run(recording_)) {
      const std::string id = failures_.add(*ended);
      link_recorded_races(*ended, report, id, failures_);
    }
    failures_.move_to(report);
  }

  void add_time() {
    if (limit_.interrupted()) {
      gaps_.push_back({GapKind::kBudget, "Interrupted: the report is what was known until then."});
    }
    if (job_.budget.count() != 0 && limit_.out_of_time()) {
      gaps_.push_back({GapKind::kBudget, "The budget of " + seconds_text(job_.budget) + " was spent (--budget)."});
    } else if (job_.budget.count() != 0 && !job_.deterministic) {
      gaps_.push_back({GapKind::kBudget, "Spent " + seconds_text(limit_.elapsed()) + " of the budget of " +
                                             seconds_text(job_.budget) + "."});
    }
  }

  void add_stages(Report& report) const {
    const double proving = report.stats.witness_seconds;  // with mcm, of all processes
    const double reading = std::max(0.0, report.stats.seconds - proving);
    report.stats.stages = {
        {"record", recording_.seconds}, {"detect", reading}, {"prove", proving}, {"confirm", confirm_seconds_}};
  }

  const RunJob& job_;
  const ProgramRecording& recording_;
  WorkLimit limit_;
  std::vector<Report> reports_;  // of the processes, the first one first
  ControlCounts control_;
  FailureTally failures_;
  std::vector<Gap> gaps_;
  double confirm_seconds_ = 0;
};

}  // namespace

Result<RunResult> run_program(const RunJob& job) {
  const Result<ProgramRecording> recording = record_program(job.record);
  if (!recording.ok()) {
    return recording.status();
  }
  if (job.progress.recorded) {
    job.progress.recorded(*recording);
  }
  if (recording->made.empty()) {
    return Status::bad_input(recording->why_none);
  }
  return Run(job, *recording).finish();
}

}  // namespace sooth
