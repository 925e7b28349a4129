#include "run/search_loop.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.h"
#include "confirm/ordered_work.h"
#include "confirm/outcome.h"
#include "confirm/portfolio.h"
#include "confirm/shell_words.h"
#include "launch/private_directory.h"
#include "run/explore_stage.h"
#include "run/order_census.h"
#include "run/planner.h"
#include "run/stage_time.h"
#include "trace/reader.h"

namespace sooth {
namespace {

using Clock = std::chrono::steady_clock;

// How many schedules are tested once recordings show nothing new, at most.
constexpr std::uint64_t kTestRuns = 400;
// The same of schedules that are explored first, and how many events a recording of the program has then at most.
constexpr std::uint64_t kExploreRuns = 1000;
constexpr std::uint64_t kTinyEvents = 2000;
// Shares of the budget are time, and time says little on a busy machine or with a small budget: so many schedules are
// tested, and explored, in any case, unless that takes half of what is left.
constexpr std::uint64_t kLeastRuns = 200;

// Schedules in which waits for a condition end for no reason.
constexpr std::uint64_t kSpuriousRuns = 60;
constexpr std::uint64_t kWeakRuns = 400;

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
        program_(ControlledProgram::prepare(job.words)),
        failures_(program_.ok() ? program_->path() : "", job.identity),
        campaign_([this](const RunPlan& plan) { return run(plan); }, campaign_options()) {
    const std::optional<EndedRun> failed = ended_run(first.end, first.timed_out, first.made);
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
      sources_.push_back(
          {report.program, report.trace, how, last_event_of(findings, job_.confirm.options.max_events), number});
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
    if (!explore_all()) {
      test_schedules();
    }
    test_spurious_wakes();
    test_weak_memory();
    fail_again();
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
    failures_.move_to(result_.failures, shell_words(job_.words), job_.confirm.options.report_name);
    SearchSummary& summary = result_.summary;
    summary.candidates = candidates_.size();
    summary.tried = candidates_.size() - untried;
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
    std::uint64_t recording = 0;  // number
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

  void add_gap(const std::string& text) { result_.gaps.push_back({GapKind::kTrials, text}); }

  void tell(const std::string& doing) const {
    if (job_.progress) {
      const auto open = std::count_if(candidates_.begin(), candidates_.end(), [this](const Candidate& each) {
        return !each.settled && !each.impossible && (each.attempt == nullptr || !campaign_.over(*each.attempt));
      });
      job_.progress(
          {doing, runs_made_, planner_.recordings(), static_cast<std::uint64_t>(open), candidates_.size(), reached_});
    }
  }

  // Every run that is made, recorded or controlled, is looked at here for how it ended.
  void note_outcome(Outcome outcome) {
    outcome.last_words.clear();  // they may differ from run to run
    const std::string end = outcome.describe();
    auto& ends = result_.summary.ends;
    const auto same = std::find_if(ends.begin(), ends.end(), [&](const auto& each) { return each.first == end; });
    if (same == ends.end()) {
      ends.emplace_back(end, 1);
    } else {
      ++same->second;
    }
  }

  void note_end(const ProgramEnd& end, const std::optional<EndedRun>& failed, const std::string& errors = "") {
    if (failed && failed->outcome.kind != Outcome::Kind::kKilled) {
      note_outcome(failed->outcome);
      return;
    }
    RunOutcome run;
    run.end = end;
    run.errors = errors;
    run.log.state = control::RunState::kEnded;
    note_outcome(classify(run));
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

  // Counts end what time would, if the result is not to depend on that.
  bool is_over(const StageTime& time, const StageTime& most, std::uint64_t runs) const {
    return job_.deterministic ? limit_.reached() : most.over() || (runs >= kLeastRuns && time.over());
  }

  // Recordings have shown what they can; or one of them takes so long that what is left is better used otherwise.
  bool recordings_are_over() const { return why_ == Planner::Stop::kNothingNew || why_ == Planner::Stop::kTooShort; }

  // All schedules, if the program is so small that they fit into the time. Whether they did. Not of scripts and the like,
  // which start the programs that count: the explorer knows of one.
  bool explore_all() {
    const CampaignOptions& options = job_.confirm.options.campaign;
    if (!recordings_are_over() || options.trials == 0 || !program_.ok() || !program_->instrumented() ||
        events_ > kTinyEvents) {
      return false;
    }
    const StageTime time(limit_, RunStage::kExplore), most(limit_, RunStage::kHalfOfTheRest);
    const std::uint64_t before = runs_made_;
    ExploreStageJob job;
    job.program = shell_words(job_.words);
    job.path = program_->path();
    job.report_name = job_.confirm.options.report_name;
    job.identity = job_.identity;
    for (const FindingPool::Entry& entry : pool_.entries()) {
      job.recorded.insert(job.recorded.end(), entry.finding.accesses.begin(), entry.finding.accesses.end());
    }
    job.trace = sources_.empty() ? "" : sources_.front().trace;
    job.runs = kExploreRuns;
    job.jobs = options.jobs;
    // Runs that do not end would take all of the time.
    constexpr std::uint32_t kMostHangs = 2;
    std::atomic<std::uint32_t> hangs{0};
    job.cancelled = [&] { return hangs >= kMostHangs || is_over(time, most, runs_made_ - before); };
    job.on_run = [this] { tell("exploring all schedules"); };
    job.run = [&](const RunPlan& plan) {
      Result<RunOutcome> outcome = run(plan, patience());
      if (outcome.ok() && !outcome->cancelled && !outcome->timed_out) {
        failures_.add(plan, *outcome);
      }
      hangs += outcome.ok() && outcome->timed_out ? 1 : 0;
      return outcome;
    };
    Result<ExploreStageResult> explored = explore_stage(job);
    if (!explored.ok()) {
      return false;  // `sooth explore` says why
    }
    explored_ = std::move(explored->races);
    result_.summary.explored = explored->told;
    return explored->complete;
  }

  // Not every bug is a race, or a cycle of locks: what `sooth test` does, for a while.
  void test_schedules() {
    const CampaignOptions& options = job_.confirm.options.campaign;
    if (!recordings_are_over() || options.trials == 0 || !program_.ok()) {
      return;
    }
    const StageTime time(limit_, RunStage::kTest), most(limit_, RunStage::kHalfOfTheRest);
    const std::uint64_t before = runs_made_;
    const auto enough = [&] { return is_over(time, most, runs_made_ - before); };
    Portfolio portfolio;
    for (const PairCode& pair : pairs_) {
      portfolio.add_pair(pair);
    }
    if (!sources_.empty() && program_->instrumented()) {
      CodeFinder finder(program_->path(), sources_.front().program, sources_.front().trace);
      std::vector<const Finding*> findings;
      for (const FindingPool::Entry& entry : pool_.entries()) {
        findings.push_back(&entry.finding);
      }
      for (const std::vector<SiteCode>& acquires : code_of_splits(findings, finder)) {
        portfolio.add_split(acquires);
      }
    }
    std::set<std::pair<std::string, std::uint64_t>> ends;
    std::uint64_t made = 0;
    bool stopped = false;
    std::optional<RunPlan> hung;
    while (made < kTestRuns && !stopped && !hung && !enough()) {
      std::vector<Portfolio::Planned> round = portfolio.next_round(kTestRuns - made);
      for (std::size_t i = 0; i < round.size(); ++i) {
        round[i].plan.seed = options.seed + made + i;
      }
      const auto take = [&](std::uint64_t i, Result<RunOutcome>&& outcome) {
        stopped = !outcome.ok() || outcome->cancelled;
        if (stopped) {
          return false;
        }
        if (!outcome->timed_out) {
          failures_.add(round[i].plan, *outcome);
        } else if (!hung && is_fair_and_busy(round[i].plan, outcome->log)) {
          hung = round[i].plan;
        }
        const bool is_new = ends.emplace(classify(*outcome).describe(), outcome->output_hash).second;
        // Pairs were tried before: what matters here is how runs end.
        portfolio.take(round[i], outcome->log, is_new, false);
        ++made;
        tell("testing other schedules");
        return true;
      };
      const std::uint64_t begun = made;
      do_in_order<Result<RunOutcome>>(
          round.size(), options.jobs, [&](std::uint64_t i) { return run(round[i].plan, patience()); }, take,
          [&] { return hung.has_value() || enough(); });
      stopped = stopped || made - begun < round.size();
    }
    if (hung) {
      look_at_hang(*hung);
    }
  }

  // Waits for a condition may end although nobody notifies. Programs must expect that, and hardly ever meet it.
  void test_spurious_wakes() {
    if (census_.has_condition_waits()) {
      test_with(control::kSpuriousWakes, kSpuriousRuns, "testing spurious wake-ups");
    }
  }
  // Atomics may see older values: what the machine at hand does not show.
  void test_weak_memory() {
    if (job_.weak_memory) {
      test_with(control::kWeakMemory, kWeakRuns, "testing weak memory");
    }
  }

  // Other schedules with the flag, so many.
  void test_with(std::uint32_t flag, std::uint64_t runs, const std::string& what) {
    const CampaignOptions& options = job_.confirm.options.campaign;
    if (!recordings_are_over() || options.trials == 0 || !program_.ok()) {
      return;
    }
    const StageTime time(limit_, RunStage::kExplore), most(limit_, RunStage::kHalfOfTheRest);
    const std::uint64_t before = runs_made_;
    const auto plan_of = [&](std::uint64_t i) {
      RunPlan plan;
      plan.strategy = i % 2 == 0 ? "random" : "pct:3";
      plan.seed = options.seed + i;
      plan.flags = flag;
      return plan;
    };
    const auto take = [&](std::uint64_t i, Result<RunOutcome>&& outcome) {
      if (!outcome.ok() || outcome->cancelled) {
        return false;
      }
      if (!outcome->timed_out) {
        failures_.add(plan_of(i), *outcome);
      }
      tell(what);
      return true;
    };
    do_in_order<Result<RunOutcome>>(
        runs, options.jobs, [&](std::uint64_t i) { return run(plan_of(i), patience()); }, take,
        [&] {
          return job_.deterministic ? limit_.reached()
                                    : most.over() || (runs_made_ - before >= runs / 2 && time.over());
        });
  }

  // How long a run may take that is one of very many: far longer than those that ended.
  std::chrono::milliseconds patience() {
    constexpr std::chrono::milliseconds kLeast(2'000);
    constexpr int kTimesLonger = 50;
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::min(job_.confirm.timeout, std::max(kLeast, kTimesLonger * longest_));
  }

  // Threads go round in circles, and that is the program's doing: `random` gives all of them their turns, nothing from
  // outside takes part, and the scheduler has let nobody go on its own.
  bool is_fair_and_busy(const RunPlan& plan, const RunLog& log) {
    constexpr std::uint64_t kTimesMore = 10;
    if (plan.plan != control::Plan::kStrategy || plan.strategy != "random" || log.processes.size() != 1) {
      return false;
    }
    const ProcessLog& process = log.processes.front();
    const std::lock_guard<std::mutex> guard(mutex_);
    return process.external == 0 && process.let_go == 0 && process.impatient == 0 && process.turns_taken == 0 &&
           log.scheduling_points > kTimesMore * std::max<std::uint64_t>(most_points_, 50);
  }

  // One that took too long may only be slow, on a machine that others use. If it does not end in the time that any run of
  // the program gets, alone, it hangs.
  void look_at_hang(const RunPlan& plan) {
    tell("waiting for a run that does not end");
    const Result<RunOutcome> outcome = run(plan);
    if (outcome.ok() && !outcome->cancelled && (!outcome->timed_out || is_fair_and_busy(plan, outcome->log))) {
      failures_.add(plan, *outcome);
    }
  }

  // A recorded run cannot be replayed: looks for controlled ones that fail in the same way.
  void fail_again() {
    const auto all_seen = [this] {
      return std::all_of(failed_.begin(), failed_.end(), [this](const std::string& key) { return failures_.has(key); });
    };
    const CampaignOptions& options = job_.confirm.options.campaign;
    for (std::uint64_t i = 0; i < options.trials && program_.ok() && !all_seen() && !limit_.reached(); ++i) {
      RunPlan plan;
      plan.seed = options.seed + i;
      plan.strategy = i % 2 == 0 ? "random" : "pct:3";
      const Result<RunOutcome> outcome = run(plan);
      if (!outcome.ok() || outcome->cancelled) {
        return;
      }
      failures_.add(plan, *outcome);
      tell("looking for the failure again");
    }
  }

  // From several threads.
  Result<RunOutcome> run(const RunPlan& plan) { return run(plan, job_.confirm.timeout); }
  Result<RunOutcome> run(const RunPlan& plan, std::chrono::milliseconds timeout) {
    ControlledRunOptions how;
    how.timeout = timeout;
    how.max_output = 64 << 10;
    how.cancel = &WorkLimit::interrupt();
    how.give_up_at = limit_.end();
    how.input = job_.input;
    how.isolation = job_.isolation ? &*job_.isolation : nullptr;
    const Clock::time_point start = Clock::now();
    Result<RunOutcome> outcome = program_->run(plan, how);
    if (outcome.ok() && !outcome->cancelled) {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (!outcome->timed_out) {
        longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start));
        most_points_ = std::max(most_points_, outcome->log.scheduling_points);
      }
      count_run(*outcome, result_.control);
      note_outcome(classify(*outcome));
      ++runs_made_;
    }
    return outcome;
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
    // In a recording whose time-outs are drawn, threads may have been kept from running, too.
    const std::string& recorded = sources_[pool_.entries()[candidate.entry].source].how.schedule;
    if (recorded != "serial" && recorded != "os" && finding.replay->by_delay != confirmation->by_delay) {
      finding.replay->by_delay = confirmation->by_delay;
    }
    return true;
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
  std::mutex mutex_;  // of result_ while runs are made
  std::atomic<std::uint64_t> runs_made_{0};
  std::chrono::milliseconds longest_{0};  // of the runs that ended; guarded by mutex_
  std::uint64_t most_points_ = 0;         // ... scheduling points
  std::uint64_t reached_ = 0;
  const Result<ControlledProgram> program_;
  FailureLog failures_;           // of controlled runs
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
