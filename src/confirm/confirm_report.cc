#include "confirm/confirm_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "confirm/shell_words.h"
#include "race/site_key.h"
#include "schedule/schedule_file.h"

namespace sooth {
namespace {

// Findings whose runs overlap.
constexpr std::size_t kAtOnce = 16;

std::vector<std::string> places_of(const Finding& finding) {
  std::vector<std::string> places;
  for (const Access& access : finding.accesses) {
    places.push_back(site_key(access.site));
  }
  std::sort(places.begin(), places.end());
  return places;
}

class ReportCampaign {
 public:
  ReportCampaign(Report& report, const std::vector<std::string>& words, const std::string& path,
                 const Campaign::Run& run, const ConfirmOptions& options)
      : report_(report),
        words_(words),
        options_(options),
        campaign_(run, options.campaign),
        chosen_(choose()),
        finder_(path, report.program, trace_path(), options.max_events, last_event_of(findings(), options.max_events)) {
  }

  Result<ConfirmCounts> run() {
    ConfirmCounts counts;
    for (const Chosen& each : chosen_) {
      counts.chosen.push_back(each.finding->id);
    }
    SOOTH_RETURN_IF_ERROR(take_turns());
    for (Chosen& each : chosen_) {
      SOOTH_RETURN_IF_ERROR(settle(each, counts));
    }
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
  struct Chosen {
    Finding* finding;
    std::shared_ptr<Campaign::Attempt> attempt = nullptr;
    std::string no_witness = "";
    bool impossible = false;
  };

  const std::string& trace_path() const { return options_.trace.empty() ? report_.trace : options_.trace; }

  std::vector<Chosen> choose() {
    std::vector<Chosen> chosen;
    std::uint64_t number = 0;
    for (Finding& finding : report_.findings) {
      if (can_be_confirmed(finding) && options_.wanted(finding) && number++ % options_.shards == options_.shard - 1) {
        chosen.push_back({&finding});
      }
    }
    return chosen;
  }

  std::vector<const Finding*> findings() const {
    std::vector<const Finding*> findings;
    for (const Chosen& each : chosen_) {
      findings.push_back(each.finding);
    }
    return findings;
  }

  void note(const std::string& sentence) { report_.add_gap(GapKind::kTrials, sentence); }

  // Whether another race of the report is about another variable at the same places.
  bool shares_places(const Finding& finding) const {
    return std::count_if(report_.findings.begin(), report_.findings.end(), [&](const Finding& each) {
             return each.kind == FindingKind::kRace && places_of(each) == places_of(finding);
           }) > 1;
  }

  // Nothing when it cannot be tried.
  Campaign::Attempt* attempt_of(Chosen& chosen) {
    if (chosen.attempt == nullptr && !chosen.impossible) {
      Finding finding = *chosen.finding;
      if (finding.recorded_under) {
        finding.witness.reset();  // of another recording than the one at hand
      }
      Result<FoundTarget> found = finder_.find(finding, shares_places(finding));
      if (found.ok()) {
        chosen.attempt = campaign_.begin(std::move(found->target));
        chosen.no_witness = std::move(found->no_witness);
      } else {
        chosen.impossible = true;
        note("finding " + chosen.finding->id + " cannot be tried: " + found.status().message());
      }
    }
    return chosen.attempt.get();
  }

  Status take_turns() {
    for (const std::uint64_t trials : kTurns) {
      for (std::size_t i = 0; i < chosen_.size() && !options_.campaign.cancelled(); i += kAtOnce) {
        std::vector<Campaign::Attempt*> attempts;
        for (std::size_t k = i; k < std::min(i + kAtOnce, chosen_.size()); ++k) {
          Campaign::Attempt* const attempt = attempt_of(chosen_[k]);
          if (attempt != nullptr && !campaign_.over(*attempt)) {
            attempts.push_back(attempt);
          }
        }
        SOOTH_RETURN_IF_ERROR(attempts.empty() ? Status() : campaign_.advance(attempts, trials));
        options_.on_finding(settled(), chosen_.size());
      }
    }
    return {};
  }

  std::uint64_t settled() const {
    return static_cast<std::uint64_t>(std::count_if(chosen_.begin(), chosen_.end(), [this](const Chosen& each) {
      return each.impossible || (each.attempt != nullptr && campaign_.over(*each.attempt));
    }));
  }

  Status settle(Chosen& chosen, ConfirmCounts& counts) {
    if (chosen.attempt == nullptr) {
      counts.untried += chosen.impossible ? 0 : 1;
      return {};
    }
    Finding& finding = *chosen.finding;
    Result<Confirmation> confirmation = campaign_.finish(*chosen.attempt);
    if (!confirmation.ok()) {
      return confirmation.status();
    }
    const bool untried = options_.campaign.cancelled() && confirmation->untouched();
    confirmation->diverged = chosen.no_witness.empty() ? std::move(confirmation->diverged) : chosen.no_witness;
    ++(untried ? counts.untried : counts.tried);
    counts.reached += confirmation->run.has_value() ? 1 : 0;
    counts.harmful += confirmation->harmful ? 1 : 0;
    const std::string program = shell_words(words_);
    apply(*confirmation, program, replay_command(options_.report_name, finding, program), finding);
    return {};
  }

  Report& report_;
  const std::vector<std::string>& words_;
  const ConfirmOptions& options_;
  Campaign campaign_;
  std::vector<Chosen> chosen_;
  TargetFinder finder_;
};

std::string strategy_of(const Confirmation& confirmation) {
  if (confirmation.along_witness) {
    return confirmation.witness_followed || !confirmation.diverged.empty() ? "witness" : "recorded";
  }
  const RunPlan& plan = confirmation.run->plan;
  return plan.plan == control::Plan::kDirected ? "directed" : plan.strategy;
}

}  // namespace

std::string replay_command(const std::string& report, const Finding& finding, const std::string& program) {
  return "sooth replay " + shell_word(report + "#" + finding.id) + " -- " + program;
}

void apply(const Confirmation& confirmation, const std::string& program, const std::string& command, Finding& finding) {
  // That two sections are meant to be one is a guess, unless somebody has said so or it does harm.
  const bool guessed = finding.kind == FindingKind::kAtomicity && !finding.declared;
  const Rung rung = confirmation.harmful                       ? Rung::kHarmful
                    : !confirmation.run.has_value() || guessed ? finding.rung
                                                               : Rung::kConfirmed;
  const bool predicted_before = finding.rung >= Rung::kPredicted;
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
  replay.witness_repeats = confirmation.witness_repeats;
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
    replay.missed_failures = confirmation.missed_failures;
    replay.chance = confirmation.chance;
    replay.by_delay = confirmation.by_delay && !predicted_before;
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
