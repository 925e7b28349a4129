#include "confirm/confirm_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "confirm/shell_words.h"
#include "race/trace_store.h"
#include "race/witness_summary.h"
#include "schedule/schedule_file.h"
#include "trace/reader.h"

namespace sooth {
namespace {

// Bounds of what is tried along the recorded run when there is no witness: it may be in vain.
constexpr std::uint64_t kMaxGuessEvents = 5'000'000;
constexpr std::size_t kMaxGuessStretches = 100'000;

bool has_witness(const Finding& finding) { return finding.witness.has_value() && finding.witness->checked; }

// The part of the trace that the witnesses speak of, read when the first of them is to be followed.
class WitnessTrace {
 public:
  WitnessTrace(std::string path, std::uint64_t max_events, EventId up_to)
      : path_(std::move(path)), max_events_(max_events), up_to_(up_to) {}

  // Of a race without a witness: guesses, or none.
  Result<std::vector<WitnessSchedule>> schedules(const Finding& finding) {
    if (raw(events_named(finding)) > (has_witness(finding) ? max_events_ : kMaxGuessEvents)) {
      return Status::bad_input("the witness goes beyond the first " + std::to_string(max_events_) +
                               " events of the trace");
    }
    if (!store_) {
      store_ = load();
    }
    if (!store_->ok()) {
      return store_->status();
    }
    const TraceStore& store = **store_;
    return has_witness(finding) ? schedules_of_witness(finding, store.view(), store.info())
                                : schedules_of_recorded_run(finding, store.view(), store.info(), kMaxGuessStretches);
  }

 private:
  Result<TraceStore> load() const {
    if (path_.empty() || path_ == "-") {
      return Status::bad_input("the report names no trace");
    }
    auto reader = open_trace(path_);
    if (!reader.ok()) {
      return std::move(reader).status();
    }
    Result<TraceStore> store = load_trace(**reader, max_events_, up_to_);
    return store.ok() ? std::move(store) : Result<TraceStore>(std::move(store).status().prefixed(path_));
  }

  std::string path_;
  std::uint64_t max_events_;
  EventId up_to_;
  std::optional<Result<TraceStore>> store_;
};

class ReportCampaign {
 public:
  ReportCampaign(Report& report, const std::vector<std::string>& words, const std::string& path,
                 const Campaign::Run& run, const ConfirmOptions& options)
      : report_(report),
        words_(words),
        options_(options),
        campaign_(run, options.campaign),
        finder_(path, report.program, trace_path()),
        chosen_(choose()),
        trace_(trace_path(), options.max_events, last_event()) {}

  Result<ConfirmCounts> run() {
    ConfirmCounts counts;
    for (const Finding* finding : chosen_) {
      counts.chosen.push_back(finding->id);
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      options_.on_finding(i, chosen_.size());
      if (options_.campaign.cancelled()) {
        counts.untried = chosen_.size() - i;
        break;
      }
      SOOTH_RETURN_IF_ERROR(confirm(*chosen_[i], counts));
    }
    options_.on_finding(chosen_.size(), chosen_.size());
    for (const std::string& sentence : finder_.notes()) {
      note(sentence);
    }
    if (counts.untried > 0) {
      note("the time was over before " + std::to_string(counts.untried) + " of " + std::to_string(chosen_.size()) +
           " findings were tried");
    }
    return counts;
  }

 private:
  const std::string& trace_path() const { return options_.trace.empty() ? report_.trace : options_.trace; }

  std::vector<Finding*> choose() {
    std::vector<Finding*> chosen;
    std::uint64_t number = 0;
    for (Finding& finding : report_.findings) {
      if (can_be_confirmed(finding) && options_.wanted(finding) && number++ % options_.shards == options_.shard - 1) {
        chosen.push_back(&finding);
      }
    }
    return chosen;
  }

  EventId last_event() const {
    std::uint64_t last = 0;
    for (const Finding* finding : chosen_) {
      const std::uint64_t named = raw(events_named(*finding));
      const std::uint64_t most =
          has_witness(*finding) ? options_.max_events : std::min(kMaxGuessEvents, options_.max_events);
      last = std::max(last, named <= most ? named : 0);
    }
    return EventId{last};
  }

  void note(const std::string& sentence) { report_.add_gap(GapKind::kTrials, sentence); }

  Result<Target> target_of(const Finding& finding) {
    Target target;
    target.kind = finding.kind;
    if (finding.kind == FindingKind::kRace) {
      Result<PairCode> pair = finder_.find_pair(finding);
      if (!pair.ok()) {
        return std::move(pair).status();
      }
      target.pair = std::move(*pair);
      return target;
    }
    for (const Access& acquire : finding.accesses) {
      Result<PlaceCode> place = finder_.find(acquire.site);
      if (!place.ok()) {
        return std::move(place).status();
      }
      target.acquires.push_back(std::move(*place));
    }
    return target;
  }

  Status confirm(Finding& finding, ConfirmCounts& counts) {
    Result<Target> target = target_of(finding);
    if (!target.ok()) {
      note("finding " + finding.id + " cannot be tried: " + target.status().message());
      return {};
    }
    std::string no_witness;
    target->proven = has_witness(finding);
    if (target->proven || finding.kind == FindingKind::kRace) {
      Result<std::vector<WitnessSchedule>> schedules = trace_.schedules(finding);
      if (schedules.ok()) {
        target->witnesses = std::move(*schedules);
      } else if (target->proven) {
        no_witness = "not tried: " + schedules.status().message();
      }
    }
    Result<Confirmation> confirmation = campaign_.confirm(*target);
    if (!confirmation.ok()) {
      return confirmation.status();
    }
    confirmation->diverged = no_witness.empty() ? std::move(confirmation->diverged) : no_witness;
    ++counts.tried;
    counts.reached += confirmation->run.has_value() ? 1 : 0;
    counts.harmful += confirmation->harmful ? 1 : 0;
    const std::string program = shell_words(words_);
    apply(*confirmation, program,
          "sooth replay " + shell_word(options_.report_name + "#" + finding.id) + " -- " + program, finding);
    return {};
  }

  Report& report_;
  const std::vector<std::string>& words_;
  const ConfirmOptions& options_;
  Campaign campaign_;
  CodeFinder finder_;
  std::vector<Finding*> chosen_;
  WitnessTrace trace_;
};

std::string strategy_of(const Confirmation& confirmation) {
  if (confirmation.along_witness) {
    return confirmation.witness_followed || !confirmation.diverged.empty() ? "witness" : "recorded";
  }
  const RunPlan& plan = confirmation.run->plan;
  return plan.plan == control::Plan::kDirected ? "directed" : plan.strategy;
}

}  // namespace

bool can_be_confirmed(const Finding& finding) {
  return (finding.kind == FindingKind::kRace || finding.kind == FindingKind::kDeadlock) &&
         !finding.failure.has_value() && !finding.known;
}

void apply(const Confirmation& confirmation, const std::string& program, const std::string& command, Finding& finding) {
  const Rung rung = !confirmation.run.has_value() ? finding.rung
                    : confirmation.harmful        ? Rung::kHarmful
                                                  : Rung::kConfirmed;
  const bool proven_before = finding.replay.has_value() && finding.rung >= Rung::kConfirmed;
  if (proven_before && (!confirmation.run.has_value() || rung < finding.rung)) {
    return;
  }
  ReplaySummary replay;
  replay.trials = confirmation.trials;
  replay.hits = confirmation.hits;
  replay.probability =
      confirmation.trials == 0 ? 0 : static_cast<double>(confirmation.hits) / static_cast<double>(confirmation.trials);
  replay.witness_followed = confirmation.witness_followed;
  replay.diverged = confirmation.diverged;
  replay.baseline_runs = confirmation.baseline_runs;
  if (confirmation.run.has_value()) {
    const ReachingRun& run = *confirmation.run;
    replay.command = command;
    replay.seed = run.plan.seed;
    replay.strategy = strategy_of(confirmation);
    replay.outcome = run.outcome.describe();
    replay.failures = confirmation.failures;
    replay.order_matters = confirmation.order_matters;
    replay.baseline_failures = confirmation.baseline_failures;
    ScheduleFile schedule = make_schedule(program, run.plan, run.log);
    schedule.outcome = run.end.describe();
    replay.schedule = print_schedule(schedule);
    finding.rung = std::max(finding.rung, rung);
  }
  finding.replay = std::move(replay);
}

Result<ConfirmCounts> confirm_report(Report& report, const std::vector<std::string>& words, const std::string& path,
                                     const Campaign::Run& run, const ConfirmOptions& options) {
  return ReportCampaign(report, words, path, run, options).run();
}

}  // namespace sooth
