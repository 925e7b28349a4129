#include "report/rung_reason.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "race/spurious_wakes.h"
#include "report/describe.h"

namespace sooth {
namespace {

constexpr std::string_view kEndedWell = "exit status 0";

// Those who found it and promise this much.
std::vector<std::string> finders(const Finding& finding, const ReportStats& stats, std::string_view guarantee) {
  std::vector<std::string> names;
  for (const AnalysisStats& analysis : stats.analyses) {
    if (analysis.guarantee == guarantee &&
        std::find(finding.found_by.begin(), finding.found_by.end(), analysis.name) != finding.found_by.end()) {
      names.push_back(analysis.name);
    }
  }
  return names;
}

// Nobody knows what the program means by it.
std::string why_suspected_split(const Finding& finding) {
  if (finding.observed) {
    return "it happened in the recorded run, as far as its order is known";
  }
  const std::uint64_t hits = finding.replay.has_value() ? finding.replay->hits : 0;
  const std::string what = finding.declared ? "the block was declared" : "nobody says that the two are meant to be one";
  return what + (hits == 0 ? ", and no run has come in between"
                           : ", and " + counted(hits, "run that came", "runs that came") + " in between did no harm");
}

// Names the strongest promise, and what is missing for the next rung.
std::string why_suspected(const Finding& finding, const ReportStats& stats) {
  if (finding.kind == FindingKind::kMisuse) {
    return "it happened in the recorded run, but in the handler of a signal that ends the program";
  }
  if (finding.kind == FindingKind::kAtomicity) {
    return why_suspected_split(finding);
  }
  const bool tried = finding.witness.has_value() && !finding.witness->checked && !finding.witness->why.empty();
  const std::string missing =
      tried ? "there is no witness: " + printable(finding.witness->why) : "no witness has been checked";
  const auto are = [](const std::vector<std::string>& names, std::string_view one, std::string_view many) {
    return listed(names) + std::string(names.size() == 1 ? one : many);
  };
  // What analyses promise, they promise of exact traces.
  if (const auto sound = finders(finding, stats, "sound"); finding.exact && !sound.empty()) {
    return are(sound, " is sound", " are sound") + ", but " + missing;
  }
  if (const auto first = finders(finding, stats, "sound for the first race"); finding.exact && !first.empty()) {
    return are(first, " vouches", " vouch") + " for the first race of a trace only, and " + missing +
           "; may be a false alarm";
  }
  if (tried) {
    return missing + "; may be a false alarm";
  }
  if (finding.kind == FindingKind::kDeadlock) {
    return "neither a lock nor must-order keeps the threads apart, but data flow may; may be a false alarm";
  }
  const auto heuristic = finders(finding, stats, "heuristic");
  const std::string reason = heuristic.empty() ? missing : are(heuristic, " is a heuristic", " are heuristics");
  return reason + "; may be a false alarm";
}

// "87 of 100 controlled runs", "the run along the witness and 87 of 100 controlled runs", "10 runs along the witness"; a
// report of before there were such figures has none.
std::string runs_that_reached(const ReplaySummary& replay) {
  const std::string witness = !replay.witness_followed ? ""
                              : replay.witness_repeats == 0
                                  ? "the run along the witness"
                                  : std::to_string(replay.witness_repeats + 1) + " runs along the witness";
  if (replay.hits == 0) {
    return witness.empty() ? "a controlled run" : witness;
  }
  return witness + (witness.empty() ? "" : " and ") +
         (replay.trials == 1
              ? "the controlled run"
              : std::to_string(replay.hits) + " of " + std::to_string(replay.trials) + " controlled runs");
}

// What it takes beyond a schedule, as far as anybody has seen.
std::string what_it_takes(const Finding& finding) {
  const bool recorded = finding.failure.has_value() && finding.failure->recorded;
  if (!recorded && finding.replay.has_value() && finding.replay->strategy.ends_with(kWithWeakMemory)) {
    return "it takes weak memory: atomics saw old values that no order forbids";
  }
  return takes_spurious_wake(finding) ? "it takes a spurious wake-up of a condition variable"
         : is_by_delay(finding)       ? "it takes a thread that is kept from running for longer than a time-out"
                                      : "";
}

std::string why_confirmed(const Finding& finding) {
  const std::string runs = finding.replay.has_value() ? runs_that_reached(*finding.replay) : "a controlled run";
  const std::string takes = what_it_takes(finding);
  return runs +
         (finding.kind == FindingKind::kRace        ? " stopped with both threads about to do it"
          : finding.kind == FindingKind::kAtomicity ? " let the other thread in between"
                                                    : " stopped with every thread waiting for the next") +
         (takes.empty() ? "" : " (" + takes + ")");
}

// "a recorded run ended so", "3 of 40 controlled runs ended so".
std::string why_failed(const Finding& finding) {
  const FailureSummary& failure = *finding.failure;
  const bool reached = finding.replay.has_value() && (finding.replay->hits > 0 || finding.replay->witness_followed);
  std::string text = failure.recorded ? "a recorded run" : "";
  if (reached) {
    const bool is_third = finding.replay->hits > 0 && finding.replay->witness_followed;
    text += (text.empty() ? "" : is_third ? ", " : " and ") + runs_that_reached(*finding.replay);
  }
  text = (text.empty() ? "a controlled run" : text) + " ended so: " + printable(failure.outcome);
  text += failure.message.empty() ? "" : " after \"" + printable(failure.message) + "\"";
  const std::string takes = what_it_takes(finding);
  return text + (takes.empty() ? "" : "; " + takes);
}

// How the runs that did not reach it ended: "of 10 undirected runs none did".
std::string others_that_failed(const ReplaySummary& replay) {
  std::string text;
  if (replay.baseline_runs > 0) {
    text = "; of " + counted(replay.baseline_runs, "undirected run", "undirected runs") + " " +
           (replay.baseline_failures == 0 ? "none" : std::to_string(replay.baseline_failures)) + " did";
  }
  if (replay.missed_failures > 0 && replay.trials > replay.hits) {
    text += "; of " + std::to_string(replay.trials - replay.hits) + " that did not reach it " +
            std::to_string(replay.missed_failures) + " did";
  }
  return text;
}

// Confirmed; some of the runs failed, and that may have nothing to do with it.
std::string failures_by_chance(const Finding& finding) {
  if (!finding.replay.has_value() || finding.replay->failures == 0) {
    return "";
  }
  const ReplaySummary& replay = *finding.replay;
  char chance[48];
  std::snprintf(chance, sizeof chance, ": not significantly more (chance %.2f)", replay.chance);
  return ", and " + std::to_string(replay.failures) + " then failed: " + printable(replay.outcome) +
         others_that_failed(replay) + chance;
}

std::string why_harmful(const Finding& finding) {
  if (finding.failure.has_value()) {
    return why_failed(finding);
  }
  if (!finding.replay.has_value() || finding.replay->outcome.empty()) {
    return "a controlled run reached it, and failed";
  }
  const ReplaySummary& replay = *finding.replay;
  const std::uint64_t reached = replay.hits + replay.witness_repeats + (replay.witness_followed ? 1 : 0);
  std::string text = why_confirmed(finding);
  if (finding.kind != FindingKind::kDeadlock) {
    text += reached <= 1 ? ", and the run then " : ", and " + std::to_string(replay.failures) + " then ";
    const std::string result = other_result(replay);
    text += result.empty() ? "failed: " + printable(replay.outcome) : result;
    text += replay.order_matters ? ", as the order of the two decides" : "";
  }
  return text + others_that_failed(replay);
}

// What code that nobody sees into may have ordered.
std::string doubt_by_libraries(const Finding& finding) {
  std::vector<std::string> names;
  for (const std::string& name : finding.uninstrumented) {
    names.push_back(printable(name));
  }
  return names.empty() ? ""
                       : "; but what " + listed(names) + (names.size() == 1 ? " orders" : " order") +
                             " is not seen (not instrumented), so it fails no run before it is confirmed";
}

}  // namespace

std::string other_result(const ReplaySummary& replay) {
  if (const std::size_t but = replay.outcome.find(kButIt); but != std::string::npos) {
    return printable(replay.outcome.substr(but + kButIt.size()));
  }
  return replay.failures > 0 && replay.order_matters && replay.outcome == kEndedWell ? "had another result" : "";
}

std::vector<std::string> ways_there(const Finding& finding) {
  std::vector<std::string> sentences;
  if (finding.replay.has_value()) {
    for (const auto* each : {&finding.replay->preemptions, &finding.replay->older_values}) {
      std::transform(each->begin(), each->end(), std::back_inserter(sentences),
                     [](const std::string& sentence) { return printable(sentence); });
    }
  }
  return sentences;
}

std::string attempts(const Finding& finding) {
  if (!finding.replay.has_value() || finding.rung >= Rung::kConfirmed || finding.failure.has_value() ||
      finding.replay->hits > 0) {
    return "";
  }
  const std::uint64_t trials = finding.replay->trials;
  return trials == 0   ? ""
         : trials == 1 ? "the controlled run did not reach it"
                       : "none of " + std::to_string(trials) + " controlled runs reached it";
}

std::string why_on_rung(const Finding& finding, const ReportStats& stats) {
  const bool witnessed = finding.witness.has_value() && finding.witness->checked;
  switch (finding.rung) {
    case Rung::kSuspected:
      if (finding.failure.has_value()) {
        return why_failed(finding);
      }
      if (finding.may_be_atomic) {
        return std::string(finding.replay.has_value() && finding.replay->hits > 0
                               ? "a controlled run brought the two together"
                           : witnessed ? "the checker accepted a reordering of the recorded run that leads there"
                                       : "the two are unordered as far as is known") +
               "; but they may be atomic: no debug information tells of the variable";
      }
      return why_suspected(finding, stats);
    case Rung::kPredicted:
      if (finding.observed) {
        const bool happened = finding.kind == FindingKind::kMisuse || finding.kind == FindingKind::kAtomicity;
        return (happened ? "it happened in the recorded run" : "unordered by happens-before in the recorded run") +
               doubt_by_libraries(finding);
      }
      if (witnessed) {
        return std::string("the checker accepted a reordering of the recorded run that leads there") +
               (finding.exact ? "" : ", but the trace is not exact: confirm it") + doubt_by_libraries(finding);
      }
      return "predicted by " + listed(finding.found_by) + doubt_by_libraries(finding);
    case Rung::kConfirmed: return why_confirmed(finding) + failures_by_chance(finding);
    case Rung::kHarmful: return why_harmful(finding);
  }
  return "";
}

}  // namespace sooth
