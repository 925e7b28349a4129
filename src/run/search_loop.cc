#include "run/search_loop.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "confirm/code_names.h"
#include "confirm/older_values.h"
#include "confirm/outcome.h"
#include "confirm/shell_words.h"
#include "confirm/site_code.h"
#include "launch/private_directory.h"
#include "launch/unseen_libraries.h"
#include "race/spurious_wakes.h"
#include "run/explore_stage.h"
#include "run/finding_pool.h"
#include "run/order_census.h"
#include "run/planner.h"
#include "run/schedule_tests.h"
#include "run/search_runs.h"
#include "trace/reader.h"

namespace sooth {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The file name of the first word of a command line.
std::string name_of_program(const std::string& command) {
  const std::string word = command.substr(0, command.find(' '));
  return word.substr(word.rfind('/') + 1);
}

// Which schedule a later recording has. Drawn switches and few, well placed ones show different things; every third one
// is steered to orders that no recording has shown.
RecordedUnder schedule_of(std::uint64_t recording, const RecordingOptions& first, OrderCensus& census) {
  const std::uint64_t seed = first.seed + recording - 1;
  if (first.schedule == "os") {
    return {"os", seed};  // its runs differ by themselves
  }
  const std::optional<std::string> steered = recording % 3 == 1 ? census.next_schedule() : std::nullopt;
  return {steered.value_or(recording % 3 == 0 ? "pct:3" : "random"), seed};
}

std::string sentence(Planner::Stop why, const Planner& planner, const std::string& why_not_again) {
  switch (why) {
    case Planner::Stop::kNot: break;
    case Planner::Stop::kBudget: return "The budget was spent.";
    case Planner::Stop::kTooShort: return "What was left of the budget was too short for another recording.";
    case Planner::Stop::kNothingNew:
      return "The last " + std::to_string(planner.dry()) + " recordings in a row showed no new pair.";
    case Planner::Stop::kNoRecords: return why_not_again;
    case Planner::Stop::kEnough:
      return counted(planner.recordings(), "recording was", "recordings were") + " made (--recordings).";
  }
  return "Interrupted.";
}

class Loop {
 public:
  Loop(const ProgramRecording& first, const WorkLimit& limit, const SearchJob& job)
      : limit_(limit),
        job_(job),
        planner_({job.budget, job.confirm.options.campaign.trials, job.why_not_again.empty(), job.max_recordings}),
        pool_(job.identity.user_code),
        result_{.findings = {}, .summary = {}, .failures = FailureTally(job.identity), .control = {}, .gaps = {}},
        runs_(limit, job),
        program_(runs_.program()),
        failures_(program_.ok() ? program_->path() : "", job.identity),
        tests_(runs_, failures_, limit, job, [this](const std::string& doing) { tell(doing); }),
        campaign_([this](const RunPlan& plan) { return runs_.make(plan); }, campaign_options()) {
    const std::optional<EndedRun> failed = ended_run(first.end, first.timed_out, first.made);
    usual_status_ = first.end.signal == 0 && !failed ? std::optional<int>(first.end.status) : std::nullopt;
    note_end(first.end, failed);
    note_failure(failed);
  }

  // `end`: how the program ended.
  void take(std::vector<Report>& reports, const RecordedUnder& how, const std::string& end,
            std::chrono::milliseconds took) {
    const std::uint64_t number = planner_.recordings() + 1;
    std::uint64_t news = 0;
    for (Report& report : reports) {
      events_ = std::max(events_, report.stats.events);
      count_orders(report.trace);
      const Result<std::set<std::string>> wanted = wanted_ids(report, job_.confirm);
      if (!wanted.ok()) {
        add_gap("Findings were not tried: " + wanted.status().message());
      }
      std::vector<const Finding*> findings;
      for (const Finding& finding : report.findings) {
        findings.push_back(&finding);
      }
      sources_.push_back({report.program, report.trace, how, last_event_of(findings, job_.confirm.options.max_events),
                          number, unseen_libraries(report.trace).may_order.empty()});
      for (const FindingPool::Change& change : pool_.add(std::move(report.findings), number, sources_.size() - 1)) {
        news += change.added ? 1 : 0;
        consider(change, wanted);
      }
      report.findings.clear();
    }
    result_.summary.recordings.push_back(
        {how, pool_.seen_in(number), number == 1 ? pool_.entries().size() : news, end});
    planner_.recorded(news, took);
  }

  void go() {
    while (!limit_.interrupted()) {
      const Planner::Step step = planner_.next(limit_.elapsed());
      why_ = step.why;
      if (step.kind == Planner::Kind::kStop) {
        return;
      }
      const Clock::time_point start = Clock::now();
      const bool records = step.kind == Planner::Kind::kRecord;
      const Status status = records ? record() : try_candidates(step);
      (records ? result_.record_seconds : result_.confirm_seconds) += seconds_since(start);
      if (!status.ok()) {
        add_gap((records ? "The program could not be recorded again: "
                         : "Findings could not be tried in controlled runs: ") +
                status.message());
        return;
      }
    }
    why_ = Planner::Stop::kNot;
  }

  SearchResult finish() {
    const Clock::time_point start = Clock::now();
    test_schedules();
    std::uint64_t untried = 0;
    for (Candidate& candidate : candidates_) {
      untried += settle(candidate) ? 0 : 1;
    }
    result_.confirm_seconds += seconds_since(start);
    drop_finder();
    if (untried > 0 && program_.ok() && limit_.reached()) {
      add_gap("the time was over before " + std::to_string(untried) + " of " + std::to_string(candidates_.size()) +
              " findings were tried");
    }
    tell_other_statuses();
    failures_.move_to(result_.failures, shell_words(job_.words), job_.confirm.options.report_name);
    SearchSummary& summary = result_.summary;
    summary.candidates = candidates_.size();
    summary.tried = candidates_.size() - untried;
    result_.control = runs_.control();
    summary.ends = runs_.ends();
    summary.runs = result_.control.runs;
    summary.sightings = pool_.sightings();
    summary.seen_once = pool_.seen_once();
    summary.jobs = job_.confirm.options.campaign.jobs;
    summary.jobs_why = job_.jobs_why;
    summary.ended = sentence(why_, planner_, job_.why_not_again);
    for (FindingPool::Entry& entry : pool_.entries()) {
      if (is_idle_guess(entry.finding)) {
        continue;
      }
      if (sources_[entry.source].recording > 1) {
        entry.finding.recorded_under = sources_[entry.source].how;
      }
      result_.findings.push_back(std::move(entry.finding));
    }
    merge_explored(std::move(explored_), result_.findings, job_.identity.user_code);
    return std::move(result_);
  }

 private:
  // A process of a recording.
  struct Source {
    std::string program, trace;
    RecordedUnder how;
    EventId last{};
    std::uint64_t recording = 0;   // number
    bool sees_all_orders = false;  // no library orders anything without being seen
  };
  // The planner has the same numbers.
  struct Candidate {
    std::size_t entry = 0;
    std::shared_ptr<Campaign::Attempt> attempt = nullptr;
    std::string no_witness = "";
    bool impossible = false, settled = false;
    bool renewed = false;  // it has another witness since it was tried
  };

  CampaignOptions campaign_options() {
    CampaignOptions options = job_.confirm.options.campaign;
    options.cancelled = [this] { return limit_.reached(); };
    options.on_run = [this] { tell("confirming"); };
    options.on_outcome = [this](const RunPlan& plan, const RunOutcome& run) { failures_.add(plan, run); };
    return options;
  }

  // Programs give locks back and take them again all the time, and mostly that is meant. Runs were steered in between, and
  // did no harm: there is nothing to tell. `sooth analyze --with atomicity` lists them.
  bool is_idle_guess(const Finding& finding) const {
    return finding.kind == FindingKind::kAtomicity && !finding.declared && finding.rung == Rung::kSuspected &&
           job_.confirm.options.campaign.trials > 0;
  }

  // Of runs that ended with another exit status than the recorded one. A race that makes them do so says it itself.
  void tell_other_statuses() {
    if (!usual_status_) {
      return;
    }
    const auto is_told = [this](int status) {
      const std::string end = "exit status " + std::to_string(status);
      return std::any_of(pool_.entries().begin(), pool_.entries().end(), [&](const FindingPool::Entry& entry) {
        const std::string outcome = entry.finding.replay ? entry.finding.replay->outcome : "";
        return outcome == end || outcome.starts_with(end + " ") || outcome.starts_with(end + ",");
      });
    };
    for (std::string& text : failures_.other_statuses(*usual_status_, shell_words(job_.words), is_told)) {
      result_.gaps.push_back({GapKind::kUnknown, std::move(text)});
    }
  }

  void add_gap(const std::string& text) { result_.gaps.push_back({GapKind::kTrials, text}); }

  void tell(const std::string& doing) const {
    if (job_.progress) {
      const auto open = std::count_if(candidates_.begin(), candidates_.end(), [this](const Candidate& each) {
        return !each.settled && !each.impossible && (each.attempt == nullptr || !campaign_.over(*each.attempt));
      });
      job_.progress(
          {doing, runs_.made(), planner_.recordings(), static_cast<std::uint64_t>(open), candidates_.size(), reached_});
    }
  }

  void note_end(const ProgramEnd& end, const std::optional<EndedRun>& failed, const std::string& errors = "") {
    if (failed && failed->outcome.kind != Outcome::Kind::kKilled) {
      runs_.note_end(failed->outcome);
      return;
    }
    RunOutcome run;
    run.end = end;
    run.errors = errors;
    run.log.state = control::RunState::kEnded;
    runs_.note_end(classify(run));
  }

  void note_failure(const std::optional<EndedRun>& recorded) {
    if (const std::optional<Finding> failure = recorded ? result_.failures.failure_of(*recorded) : std::nullopt) {
      failed_.insert(failure_key(*failure));
    }
  }

  void count_orders(const std::string& trace) {
    if (Result<std::unique_ptr<TraceReader>> reader = open_trace(trace, {.columns = 0}); reader.ok()) {
      census_.add(**reader);
    }
  }

  // Once recordings have shown what they can; or one of them takes so long that what is left is better used otherwise.
  void test_schedules() {
    if (job_.confirm.options.campaign.trials == 0 || !program_.ok()) {
      return;
    }
    if (why_ == Planner::Stop::kNothingNew || why_ == Planner::Stop::kTooShort) {
      ScheduleTests::Known known = known_to_tests();
      std::optional<ExploreStageResult> explored = tests_.explore(known);
      if (explored) {
        explored_ = std::move(explored->races);
        result_.summary.explored = explored->told;
      }
      if (!explored || !explored->complete) {
        known.splits = code_of_splits();
        tests_.test(known);
      }
      if (census_.has_condition_waits()) {
        tests_.test_spurious_wakes();
      }
      if (is_for_weak_memory()) {
        tests_.test_weak_memory();
        try_with_old_values();
      }
    }
    tests_.fail_again(failed_);
    tests_.minimize_failures();
  }

  // Races that no run has reached, perhaps because it takes an old value to get there: two threads in a lock that is none.
  void try_with_old_values() {
    constexpr std::uint64_t kTrials = 20, kLeastTrials = 100;
    const StageTime time(limit_, RunStage::kWeakMemory);
    std::uint64_t made = 0;
    for (Candidate& candidate : candidates_) {
      const Finding& finding = pool_.entries()[candidate.entry].finding;
      const bool is_plain = std::none_of(finding.accesses.begin(), finding.accesses.end(),
                                         [](const Access& access) { return is_atomic(access.op); });
      if (candidate.attempt == nullptr || finding.kind != FindingKind::kRace || !is_plain ||
          campaign_.has_reached(*candidate.attempt)) {
        continue;
      }
      if (limit_.reached() || (made >= kLeastTrials && (job_.deterministic || time.over()))) {
        return;
      }
      tell("trying races with weak memory");
      campaign_.allow_older_values(*candidate.attempt, kTrials);
      Campaign::Attempt* const attempts[] = {candidate.attempt.get()};
      if (!campaign_.advance(attempts, UINT64_MAX).ok()) {
        return;
      }
      made += kTrials;
    }
  }

  // What code without hooks orders is not known in such runs: old values may be seen there that nobody can see.
  bool is_for_weak_memory() const {
    return job_.weak_memory == WeakMemory::kAlways ||
           (job_.weak_memory == WeakMemory::kWhereItMatters && program_->instrumented() && census_.has_weak_atomics() &&
            std::all_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.sees_all_orders; }));
  }

  ScheduleTests::Known known_to_tests() const {
    ScheduleTests::Known known;
    known.events = events_;
    known.pairs = pairs_;
    for (const FindingPool::Entry& entry : pool_.entries()) {
      known.accesses.insert(known.accesses.end(), entry.finding.accesses.begin(), entry.finding.accesses.end());
    }
    if (!sources_.empty()) {
      known.trace = sources_.front().trace;
    }
    return known;
  }

  std::vector<std::vector<SiteCode>> code_of_splits() const {
    if (sources_.empty() || !program_->instrumented()) {
      return {};
    }
    std::vector<const Finding*> findings;
    for (const FindingPool::Entry& entry : pool_.entries()) {
      findings.push_back(&entry.finding);
    }
    CodeFinder finder(program_->path(), sources_.front().program, sources_.front().trace);
    return sooth::code_of_splits(findings, finder);
  }

  void consider(const FindingPool::Change& change, const Result<std::set<std::string>>& wanted) {
    const Finding& finding = pool_.entries()[change.entry].finding;
    if (job_.confirm.options.campaign.trials == 0 || !wanted.ok() || !wanted->contains(finding.id) ||
        !can_be_confirmed(finding)) {
      return;
    }
    const auto known = std::find_if(candidates_.begin(), candidates_.end(),
                                    [&](const Candidate& each) { return each.entry == change.entry; });
    if (known == candidates_.end()) {
      planner_.add(promise_of(finding), family_of(finding));
      candidates_.push_back({change.entry});
    } else if (!known->settled) {
      known->renewed = known->attempt != nullptr;
      known->impossible = false;
      planner_.renew(static_cast<std::size_t>(known - candidates_.begin()), promise_of(finding));
    }
  }

  TargetFinder& finder_for(std::size_t source) {
    if (finder_ == nullptr || finder_source_ != source) {
      drop_finder();
      const Source& from = sources_[source];
      const bool started =
          !program_->instrumented() || name_of_program(from.program) != name_of_program(program_->path());
      finder_ = std::make_unique<TargetFinder>(started ? "" : program_->path(), from.program, from.trace,
                                               job_.confirm.options.max_events, from.last);
      finder_source_ = source;
    }
    return *finder_;
  }

  // It may hold a trace: one at a time.
  void drop_finder() {
    if (finder_ != nullptr) {
      for (const std::string& note : finder_->notes()) {
        add_gap(note);
      }
      finder_.reset();
    }
  }

  // Nothing when it cannot be tried.
  Campaign::Attempt* attempt_of(Candidate& candidate) {
    if (candidate.impossible || (candidate.attempt != nullptr && !std::exchange(candidate.renewed, false))) {
      return candidate.attempt.get();
    }
    const FindingPool::Entry& entry = pool_.entries()[candidate.entry];
    Result<FoundTarget> found = finder_for(entry.source).find(entry.finding, pool_.shares_sites(candidate.entry));
    if (!found.ok()) {
      if (candidate.attempt == nullptr) {
        candidate.impossible = true;
        add_gap("finding " + entry.finding.id + " cannot be tried: " + found.status().message());
      }
      return candidate.attempt.get();
    }
    candidate.no_witness = std::move(found->no_witness);
    if (candidate.attempt == nullptr && found->target.kind == FindingKind::kRace) {
      pairs_.push_back(found->target.pair);
    }
    if (candidate.attempt == nullptr) {
      candidate.attempt = campaign_.begin(std::move(found->target));
    } else {
      campaign_.add_witnesses(*candidate.attempt, std::move(found->target));
    }
    return candidate.attempt.get();
  }

  Status try_candidates(const Planner::Step& step) {
    if (!program_.ok()) {
      return program_.status();
    }
    tell("confirming");
    std::vector<Campaign::Attempt*> attempts;
    for (const std::size_t i : step.candidates) {
      if (Campaign::Attempt* const attempt = attempt_of(candidates_[i])) {
        attempts.push_back(attempt);
      }
    }
    SOOTH_RETURN_IF_ERROR(attempts.empty() ? Status() : campaign_.advance(attempts, step.trials));
    for (const std::size_t i : step.candidates) {
      Candidate& candidate = candidates_[i];
      const bool over = candidate.attempt == nullptr || campaign_.over(*candidate.attempt);
      planner_.tried(i, candidate.attempt == nullptr ? 0 : campaign_.trials_of(*candidate.attempt), over);
      if (over && candidate.attempt != nullptr && campaign_.has_reached(*candidate.attempt)) {
        settle(candidate);  // what it holds is large
      }
    }
    return {};
  }

  // Writes what runs made of it into the finding. False when none was made.
  bool settle(Candidate& candidate) {
    if (candidate.settled || candidate.attempt == nullptr) {
      return candidate.settled || candidate.impossible;
    }
    Finding& finding = pool_.entries()[candidate.entry].finding;
    Result<Confirmation> confirmation = campaign_.finish(*candidate.attempt);
    candidate.attempt.reset();
    if (!confirmation.ok()) {
      add_gap("finding " + finding.id + " was not judged: " + confirmation.status().message());
      return true;
    }
    if (confirmation->untouched()) {
      return false;
    }
    candidate.settled = true;
    reached_ += confirmation->run.has_value() ? 1 : 0;
    confirmation->diverged = candidate.no_witness.empty() ? std::move(confirmation->diverged) : candidate.no_witness;
    const std::string program = shell_words(job_.words);
    apply(*confirmation, program, replay_command(job_.confirm.options.report_name, finding, program), finding);
    tell_old_values(*confirmation, finding);
    // In a recording whose time-outs are drawn, threads may have been kept from running, too.
    const std::string& recorded = sources_[pool_.entries()[candidate.entry].source].how.schedule;
    if (recorded != "serial" && recorded != "os" && finding.replay->by_delay != confirmation->by_delay) {
      finding.replay->by_delay = confirmation->by_delay;
    }
    return true;
  }

  void tell_old_values(const Confirmation& confirmation, Finding& finding) const {
    if (!confirmation.run.has_value() || (confirmation.run->plan.flags & control::kWeakMemory) == 0 ||
        confirmation.run->log.processes.empty()) {
      return;
    }
    CodeNames names(program_->path());
    finding.replay->older_values = describe_older(confirmation.run->log.processes.front(), names);
    finding.replay->strategy += finding.replay->older_values.empty() ? "" : kWithWeakMemory;
  }

  Status record() {
    const std::uint64_t number = planner_.recordings() + 1;
    const RecordedUnder how = schedule_of(number, job_.recording, census_);
    tell("recording again (" + how.schedule + ", seed " + std::to_string(how.seed) + ")");
    const Clock::time_point start = Clock::now();
    if (!place_.has_value()) {
      Result<PrivateDirectory> place = PrivateDirectory::create(UINT64_MAX);  // on a disk: recordings are large
      if (!place.ok()) {
        return place.status();
      }
      place_.emplace(std::move(*place));
    }
    RecordAgain again{job_.words,
                      place_->path() + "/" + std::to_string(number),
                      job_.recording,
                      job_.confirm.timeout,
                      &WorkLimit::interrupt(),
                      limit_.end(),
                      job_.input};
    again.options.schedule = how.schedule;
    again.options.seed = how.seed;
    const Result<AgainRecorded> recorded = record_again(again);
    if (!recorded.ok()) {
      return recorded.status();
    }
    if (limit_.reached()) {
      return {};
    }
    const std::optional<EndedRun> failed = ended_run(recorded->end, recorded->timed_out, recorded->made);
    note_end(recorded->end, failed, recorded->errors);
    Result<std::vector<Report>> reports = job_.analyze(recorded->made);
    std::vector<Report> none;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    take(reports.ok() ? *reports : none, how, how_ended(recorded->end, failed), took);
    // One that took too long may only be slow: pct is not fair, and recording costs time.
    if (failed && !recorded->timed_out) {
      note_failure(failed);
      result_.failures.add(*failed);
    }
    remove_unused(recorded->made);
    return {};
  }

  void remove_unused(const std::vector<MadeRecording>& made) const {
    for (const MadeRecording& each : made) {
      const bool used = std::any_of(pool_.entries().begin(), pool_.entries().end(),
                                    [&](const auto& entry) { return sources_[entry.source].trace == each.directory; });
      if (!used) {
        std::error_code ignored;
        std::filesystem::remove_all(each.directory, ignored);
      }
    }
  }

  const WorkLimit& limit_;
  const SearchJob& job_;
  Planner planner_;
  Planner::Stop why_ = Planner::Stop::kNot;
  FindingPool pool_;
  std::vector<Source> sources_;
  std::vector<Candidate> candidates_;
  SearchResult result_;
  SearchRuns runs_;
  std::uint64_t reached_ = 0;
  const Result<ControlledProgram>& program_;
  std::optional<int> usual_status_;  // of the recorded run
  FailureLog failures_;              // of controlled runs
  ScheduleTests tests_;
  std::set<std::string> failed_;  // failure_key() of failures of recorded runs
  Campaign campaign_;
  OrderCensus census_;
  std::uint64_t events_ = 0;       // of the longest recording
  std::vector<Finding> explored_;  // races
  std::vector<PairCode> pairs_;    // of candidates
  std::optional<PrivateDirectory> place_;
  std::unique_ptr<TargetFinder> finder_;
  std::size_t finder_source_ = 0;
};

}  // namespace

SearchResult search(std::vector<Report>& first, const ProgramRecording& recording, std::chrono::milliseconds took,
                    const WorkLimit& limit, const SearchJob& job) {
  Loop loop(recording, limit, job);
  const std::optional<EndedRun> failed = ended_run(recording.end, recording.timed_out, recording.made);
  loop.take(first, {job.recording.schedule, job.recording.seed}, how_ended(recording.end, failed), took);
  loop.go();
  return loop.finish();
}

}  // namespace sooth
