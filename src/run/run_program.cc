#include "run/run_program.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "report/describe.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/sources.h"
#include "run/analyze_source.h"
#include "run/coverage.h"
#include "run/failure_findings.h"
#include "run/merge_reports.h"
#include "run/plain_accesses.h"
#include "run/runs_apart.h"
#include "run/search_loop.h"
#include "run/stage_time.h"
#include "run/work_limit.h"
#include "schedule/directed.h"

namespace sooth {
namespace {

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
    Result<std::vector<Report>> first =
        analyze_all(recording_.made, {RunStage::kReading, RunStage::kWitnesses, RunStage::kQuestions});
    if (!first.ok()) {
      return std::move(first).status();
    }
    SearchResult found = search(*first, recording_, limit_.elapsed(), limit_, search_job(*first));
    RunResult result;
    result.end = recording_.end;
    result.interrupted = WorkLimit::signal();
    result.report = merge_reports(std::move(*first));
    Report& report = result.report;
    report.findings = std::move(found.findings);
    hold_back_atomics(report);
    merge_equal_findings(report);  // for their order
    add_failures(found, report);
    note_sources(report);
    hold_back_atomics(report);
    report.search = std::move(found.summary);
    // Always so, and easily forgotten.
    report.not_covered.insert(report.not_covered.begin(),
                              {GapKind::kNotExecuted, "Code that the recorded run did not execute was not judged."});
    const std::vector<Gap> unrecorded = gaps_of_recording(recording_, job_.record.options);
    gaps_.insert(gaps_.begin(), unrecorded.begin(), unrecorded.end());
    const std::vector<Gap> missed = gaps_of_runs(report, found.control);
    gaps_.insert(gaps_.end(), found.gaps.begin(), found.gaps.end());
    gaps_.insert(gaps_.end(), missed.begin(), missed.end());
    add_time();
    for (const Gap& gap : gaps_) {
      report.add_gap(gap.kind, gap.text);
    }
    add_stages(found, report);
    if (!job_.keeps_trace) {
      report.trace.clear();
    }
    return result;
  }

 private:
  // Which reading the recording is, looking for witnesses, and asking mcm.
  struct Shares {
    RunStage read, witness, mcm;

    // Witnesses are looked for in the time for questions.
    double sum() const { return share_of(read, 0) + share_of(mcm, 0) + share_of(RunStage::kSuspicions, 0); }
  };

  // One report for each process that can be read.
  Result<std::vector<Report>> analyze_all(const std::vector<MadeRecording>& made, const Shares& shares) {
    std::vector<Report> reports;
    Status first_error;
    const double end = limit_.spent() + shares.sum();
    auto left = static_cast<std::size_t>(
        std::count_if(made.begin(), made.end(), [](const MadeRecording& each) { return each.completed.ok(); }));
    for (const auto& [directory, completed] : made) {
      if (!completed.ok()) {
        first_error = first_error.ok() ? completed.status() : first_error;
        continue;
      }
      const double part = part_of_each(left--, end - limit_.spent(), shares.sum());
      Result<Report> report = analyze(directory, shares, part);
      if (!report.ok()) {
        first_error = first_error.ok() ? report.status() : first_error;
        gaps_.push_back({GapKind::kRecording, "A process was not analysed: " + report.status().message()});
        continue;
      }
      merge_equal_pairs(*report, job_.identity.user_code);
      reports.push_back(std::move(*report));
    }
    return reports.empty() ? Result<std::vector<Report>>(first_error) : std::move(reports);
  }

  Result<Report> analyze(const std::string& directory, const Shares& shares, double part) const {
    const Result<std::string> names = job_.analyses.empty() ? analyses_for(directory) : job_.analyses;
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
    const StageTime reading(limit_, shares.read, part);
    options.cancelled = [&] { return reading.over(); };
    options.out_of_time = [&] { return reading.over() && !limit_.interrupted(); };
    options.why_cancelled = [&] {
      return limit_.interrupted() ? "Interrupted" : "The time for reading the recording was over";
    };
    options.proof.progress = job_.progress.proving;
    StageTime witnesses(limit_, shares.witness, part), questions(limit_, shares.mcm, part);
    options.detected = [&] {
      witnesses = StageTime(limit_, shares.witness, part);
      questions = StageTime(limit_, shares.mcm, part);
    };
    options.proof.out_of_time = [&] { return witnesses.over(); };
    options.mcm.progress = job_.progress.asking;
    options.mcm.out_of_time = [&] { return questions.over(); };
    std::optional<StageTime> suspicions;  // proofs may have taken all the time that they had
    options.suspicions_out_of_time = [&] {
      return (suspicions.has_value() ? *suspicions : suspicions.emplace(limit_, RunStage::kSuspicions, part)).over();
    };
    options.recipe.progress = job_.progress.asking;
    options.recipe.out_of_time = options.mcm.out_of_time;
    return analyze_source(*source, std::move(options), {job_.identity, job_.stateless});
  }

  // Why there is nothing but the recorded run, as a sentence; empty when there may be more.
  std::string why_not_again() const {
    if (recording_.interrupted) {
      return "The recorded run was interrupted, and nobody would interrupt the others.";
    }
    if (recording_.hung) {
      return "The recorded run hung, and so would others.";
    }
    if (!job_.reruns) {
      return "The program was run once only (--no-rerun).";
    }
    const bool threads = std::any_of(recording_.made.begin(), recording_.made.end(), [](const MadeRecording& each) {
      return each.completed.ok() && each.completed->threads > 1;
    });
    return threads ? "" : "The program has one thread.";
  }

  // Runs that overlap must not disturb each other.
  void choose_jobs(SearchJob& job) const {
    CampaignOptions& campaign = job.confirm.options.campaign;
    if (campaign.jobs <= 1 || !job_.chooses_jobs || campaign.trials == 0) {
      return;
    }
    RunsApart apart =
        keep_runs_apart({job_.record.words, campaign.jobs, job.confirm.timeout, recording_.input}, limit_);
    campaign.jobs = apart.jobs;
    job.jobs_why = std::move(apart.why);
    job.isolation = std::move(apart.isolation);
  }

  // What a thread may have to wait for in front of its access: all that others do in the recorded run. 0: the usual patience
  // is enough.
  std::uint64_t patience(const std::vector<Report>& first) const {
    std::uint64_t events = 0;
    for (const Report& report : first) {
      events += report.stats.events;
    }
    for (const MadeRecording& each : recording_.made) {
      events += each.completed.ok() ? each.completed->left_out : 0;
    }
    return 2 * events > Directed::kDefaultPatience ? 2 * events : 0;
  }

  SearchJob search_job(const std::vector<Report>& first) {
    SearchJob job;
    job.words = job_.record.words;
    job.identity = job_.identity;
    job.recording = job_.record.options;
    job.confirm = job_.confirm;
    job.confirm.timeout =
        job_.timeout.count() != 0 ? job_.timeout : timeout_from(recording_.hung ? 0 : recording_.seconds);
    job.confirm.options.campaign.patience = patience(first);
    job.budget = job_.budget;
    job.deterministic = job_.deterministic;
    job.weak_memory = job_.weak_memory;
    job.max_recordings = job_.max_recordings;
    job.why_not_again = why_not_again();
    job.analyze = [this](const std::vector<MadeRecording>& made) {
      return analyze_all(made, {RunStage::kLaterReading, RunStage::kLaterWitnesses, RunStage::kLaterQuestions});
    };
    job.progress = job_.progress.searching;
    job.input = recording_.input;
    const bool any = std::any_of(first.begin(), first.end(), [](const Report& report) {
      return std::any_of(report.findings.begin(), report.findings.end(), can_be_confirmed);
    });
    if (job_.confirm.options.campaign.trials == 0 && any) {
      gaps_.push_back({GapKind::kTrials, "No controlled run was made (--trials 0)."});
    } else if (!job_.reruns) {
      job.confirm.options.campaign.trials = 0;
      gaps_.push_back({GapKind::kTrials,
                       "The program was run once only (--no-rerun): nothing is confirmed, nothing that other schedules "
                       "show was looked for."});
    } else if (recording_.interrupted) {
      job.confirm.options.campaign.trials = 0;
      if (any) {
        gaps_.push_back(
            {GapKind::kTrials,
             "No controlled run was made: the recorded run was interrupted, and nobody would interrupt the others."});
      }
    }
    choose_jobs(job);
    return job;
  }

  // The recorded run may have failed itself.
  void add_failures(SearchResult& found, Report& report) const {
    if (const std::optional<EndedRun> ended = ended_run(recording_.end, recording_.timed_out, recording_.made)) {
      const std::string id = found.failures.add(*ended);
      link_recorded_races(*ended, report, id, found.failures);
    }
    found.failures.move_to(report);
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

  void add_stages(const SearchResult& found, Report& report) const {
    const double proving = report.stats.witness_seconds;  // with mcm, of all processes
    const double reading = std::max(0.0, report.stats.seconds - proving);
    report.stats.stages = {{"record", recording_.seconds},
                           {"detect", reading},
                           {"prove", proving},
                           {"confirm", found.confirm_seconds},
                           {"record again", found.record_seconds}};
  }

  const RunJob& job_;
  const ProgramRecording& recording_;
  WorkLimit limit_;
  std::vector<Gap> gaps_;
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
