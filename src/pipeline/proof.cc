#include "pipeline/proof.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "pipeline/findings.h"
#include "predict/barrier_order.h"
#include "predict/closure.h"
#include "predict/conflicts.h"
#include "predict/deadlock_cycles.h"
#include "predict/plan.h"
#include "predict/search.h"
#include "predict/trace_index.h"
#include "race/witness_size.h"
#include "race/witness_summary.h"

namespace sooth {

namespace {

TraceView first_events(TraceView view, std::size_t count) {
  view.events = view.events.first(count);
  view.values = view.values.first(std::min(count, view.values.size()));
  return view;
}

// What comes after all that the witness names plays no part.
TraceView part_for(const Witness& witness, const TraceView& view) {
  std::uint64_t last = 0;
  for (const std::vector<EventId>* ids : {&witness.order, &witness.next}) {
    for (const EventId id : *ids) {
      last = std::max(last, raw(id));
    }
  }
  return first_events(view, last + 1);
}

std::string rejection(const Status& status) {
  return "the checker rejects the one that was found, which is a fault of sooth: " + status.message();
}

// What became of a claim.
struct Verdict {
  std::optional<Witness> witness;
  bool refuted = false;
  std::string why;  // neither
};

constexpr char kNotLookedFor[] = "the time was over before one was looked for";

class Prover {
 public:
  Prover(const TraceCapture& capture, const TraceView& view, const ProofOptions& options)
      : capture_(capture),
        view_(view),
        budget_{options.budget.states, options.out_of_time},
        options_(options),
        calls_(view),
        index_(calls_.view(), calls_.order()),
        whole_(index_),
        cycles_(index_) {
    for (std::size_t i = 0; i < view.events.size(); ++i) {
      if (is_access(view.events[i].op) || view.events[i].op == Op::kFree) {
        by_site_[view.events[i].site].push_back(EventId{i});
      }
    }
  }

  // The examples of all analyses first, by the means that costs least.
  Verdict try_race(const Claim& claim) const {
    std::string why;
    StopPoll poll(options_.out_of_time);
    for (const Candidate& candidate : claim.candidates) {
      if (std::optional<Witness> witness = try_closure(candidate, poll)) {
        return {std::move(witness), false, {}};
      }
    }
    if (std::optional<Witness> witness = try_plans(claim, poll)) {
      return {std::move(witness), false, {}};
    }
    for (const Candidate& candidate : claim.candidates) {
      if (poll.stop(StopPoll::kStride)) {
        return {std::nullopt, false, kOutOfTime};
      }
      if (raw(candidate.second) >= options_.max_events_for_search) {
        why = "none keeps the order of all critical sections, and others are only searched in the first " +
              std::to_string(options_.max_events_for_search) + " events (--witness-search-events)";
        continue;
      }
      if (Verdict verdict = try_pair(candidate); verdict.witness.has_value()) {
        return verdict;
      } else if (!verdict.why.empty()) {
        why = verdict.why;
      }
    }
    if (view_.events.size() > options_.max_events_for_heuristics) {
      return {std::nullopt, false,
              why.empty() ? "the recorded examples have none, and the trace is too long to try all" : why};
    }
    return try_all_pairs(claim, std::move(why), poll);
  }

  // What analyses that look at locks and must-order have found, if reads allow it too.
  std::optional<Witness> try_plans(const Claim& claim, StopPoll& poll) const {
    for (const RacePlan& plan : claim.plans) {
      if (poll.stop(raw(plan.race.second))) {  // follows it, and checks
        return std::nullopt;
      }
      if (raw(plan.race.second) >= std::min<std::uint64_t>(view_.events.size(), options_.max_events_for_search)) {
        continue;
      }
      Witness witness = follow_plan(index_, plan);
      if (check_witness(first_events(view_, raw(plan.race.second) + 1), witness).ok()) {
        return witness;
      }
    }
    return std::nullopt;
  }

  Verdict try_deadlock(const Claim& claim) const {
    Verdict verdict;
    for (const std::vector<EventId>& acquires : claim.acquires) {
      verdict = try_deadlock(std::span<const EventId>(acquires));
      if (verdict.witness.has_value()) {
        return verdict;
      }
    }
    if (!claim.acquires.empty() && view_.events.size() <= options_.max_events_for_heuristics) {
      cycles_.any_of(claim.acquires.front(), [&](std::span<const EventId> acquires) {
        if (!(options_.out_of_time && options_.out_of_time())) {
          verdict.witness = try_deadlock(acquires).witness;
        }
        return verdict.witness.has_value() || (options_.out_of_time && options_.out_of_time());
      });
    }
    return verdict;
  }

  // Why there is no witness for what is not in the view.
  std::string beyond() const {
    return "it lies behind the first " + std::to_string(capture_.size()) +
           (capture_.is_projection() ? " events that matter to several threads" : " events") +
           ", in which witnesses are looked for (--witness-events)";
  }

  // An access of a witness as the report shows it.
  AccessRecord record_of(EventId id) const {
    return {view_.events[raw(id)], capture_.original(id), 0, kNoLocks, capture_.stack(id)};
  }
  std::vector<LockMode> locks_at(EventId id) const { return sooth::locks_at(index_, id); }

 private:
  Verdict try_deadlock(std::span<const EventId> acquires) const {
    for (const EventId acquire : acquires) {
      if (raw(acquire) >= view_.events.size()) {
        return {std::nullopt, false, beyond()};
      }
      if (view_.events[raw(acquire)].op != Op::kAcquire) {
        return {std::nullopt, false,
                "it is about locks that the program made, and whether those that find one taken wait for it is not "
                "recorded"};
      }
    }
    Prediction prediction = find_deadlock(index_, acquires, budget_);
    if (Witness* witness = std::get_if<Witness>(&prediction)) {
      return {std::move(*witness), false, {}};
    }
    const Unknown* unknown = std::get_if<Unknown>(&prediction);
    return {std::nullopt, false, unknown != nullptr ? unknown->reason : "these acquires cannot all be next"};
  }

  std::optional<Witness> try_closure(const Candidate& candidate, StopPoll& poll) const {
    if (raw(candidate.second) >= view_.events.size()) {
      return std::nullopt;
    }
    const EventIndex targets[] = {static_cast<EventIndex>(raw(candidate.first)),
                                  static_cast<EventIndex>(raw(candidate.second))};
    const std::optional<PrefixClosure> closure = sync_preserving_closure(index_, whole_, targets, &poll);
    if (!closure.has_value()) {
      return std::nullopt;
    }
    return Witness{FindingKind::kRace, closure->in_trace_order(), {candidate.first, candidate.second}};
  }

  Verdict try_pair(const Candidate& candidate) const {
    if (raw(candidate.second) >= view_.events.size()) {
      return {std::nullopt, false, beyond()};
    }
    Prediction prediction = find_race(index_, candidate, budget_);
    if (Witness* witness = std::get_if<Witness>(&prediction)) {
      return {std::move(*witness), false, {}};
    }
    if (const Unknown* unknown = std::get_if<Unknown>(&prediction)) {
      return {std::nullopt, false, unknown->reason};
    }
    return {std::nullopt, true, {}};
  }

  // The example may not be the pair that can meet: other accesses of the same sites may. Only when all of them cannot
  // is the claim refuted.
  Verdict try_all_pairs(const Claim& claim, std::string why, StopPoll& poll) const {
    std::size_t tried = 0;
    bool complete = capture_.whole() && why.empty();
    Conflicts conflicts(index_);
    for (const EventId a : accesses_at(claim.low_site)) {
      if (poll.stop(index_.variables(static_cast<EventIndex>(raw(a))).size())) {
        break;
      }
      conflicts.choose(static_cast<EventIndex>(raw(a)));
      for (const EventId b : accesses_at(claim.high_site)) {
        if (poll.stopped()) {
          break;
        }
        if ((claim.low_site == claim.high_site && b <= a) ||
            !conflicts.conflicts_with(static_cast<EventIndex>(raw(b)), poll) || !is_about(claim, a, b)) {
          continue;
        }
        if (++tried > options_.max_pairs) {
          return {std::nullopt, false,
                  "none of the first " + std::to_string(options_.max_pairs) + " pairs of accesses has one"};
        }
        Verdict verdict = try_pair({std::min(a, b), std::max(a, b)});
        if (verdict.witness.has_value()) {
          return verdict;
        }
        complete = complete && verdict.refuted;
        why = verdict.refuted ? why : verdict.why;
      }
    }
    if (poll.stopped()) {
      return {std::nullopt, false, kOutOfTime};
    }
    if (complete) {
      return {std::nullopt, true, {}};
    }
    return {std::nullopt, false, why.empty() ? "no recorded pair of accesses has one" : why};
  }

  // Whether the two touch the variable of the claim, not that of another at the same sites.
  bool is_about(const Claim& claim, EventId a, EventId b) const {
    return !claim.one_of_several || options_.variables == nullptr ||
           options_.variables->class_of(std::max(view_.events[raw(a)].object, view_.events[raw(b)].object)) ==
               claim.variable;
  }

  std::span<const EventId> accesses_at(SiteId site) const {
    const auto it = by_site_.find(site);
    return it == by_site_.end() ? std::span<const EventId>() : std::span<const EventId>(it->second);
  }

  const TraceCapture& capture_;
  const TraceView& view_;
  const Budget budget_;
  const ProofOptions& options_;
  const BarrierTrace calls_;
  const TraceIndex index_;
  const Window whole_;
  const SiteCycles cycles_;
  std::map<SiteId, std::vector<EventId>> by_site_;
};

// A summary of a witness in a projection, with the events by the names that they have in the trace, and what was dropped
// put back.
void put_back(const Witness& witness, const TraceCapture& capture, WitnessSummary& summary) {
  summary.order.clear();  // of all events; the runs say it shorter
  const auto rename = [&](EventId& id) { id = capture.original(id); };
  for (WitnessSummary::Run& run : summary.runs) {
    const auto dropped = capture.dropped_before(run.first);
    rename(run.first);
    rename(run.last);
    run.first = dropped.has_value() ? dropped->first : run.first;
  }
  for (WitnessStep& step : summary.steps) {
    rename(step.first);
    rename(step.last);
  }
  for (SectionSwap& swap : summary.swaps) {
    rename(swap.now_first.acquire);
    rename(swap.now_second.acquire);
  }
  if (summary.drawing.has_value()) {
    for (WitnessDrawing::Row& row : summary.drawing->rows) {
      rename(row.event);
    }
  }
  for (const EventId next : witness.next) {
    if (const auto dropped = capture.dropped_before(next)) {
      summary.runs.push_back({capture.view_thread(next), dropped->first, dropped->last});
    }
  }
}

// Replaces the example of the claim by the pair of the witness.
void show_witness(Finding& finding, const Witness& witness, const Prover& prover, const TraceCapture& capture,
                  const TraceView& view, const Tables& tables) {
  finding.accesses.clear();
  std::vector<EventId> next = witness.next;
  if (finding.kind == FindingKind::kRace) {
    std::sort(next.begin(), next.end());
  } else {
    std::rotate(next.begin(), std::min_element(next.begin(), next.end()), next.end());
  }
  for (const EventId id : next) {
    finding.accesses.push_back(make_access(prover.record_of(id), prover.locks_at(id), tables));
  }
  finding.rung = std::max(finding.rung, Rung::kPredicted);
  finding.witness = summarise(witness, view);
  if (capture.is_projection()) {
    put_back(witness, capture, *finding.witness);
  }
}

// From the names that events have in the trace to those in the projection. What is not in it can be no part of a witness
// there. False: nothing of the claim is.
bool rename_to_positions(Claim& claim, const TraceCapture& capture) {
  // True: the event is not there.
  const auto rename = [&](EventId& id) {
    const std::optional<EventId> position = capture.position(id);
    id = position.value_or(EventId{capture.size()});
    return !position.has_value();
  };
  std::erase_if(claim.candidates, [&](Candidate& race) { return rename(race.first) || rename(race.second); });
  std::erase_if(claim.plans, [&](RacePlan& plan) {
    plan.moment = capture.position_at_least(plan.moment);
    return rename(plan.race.first) || rename(plan.race.second) ||
           std::any_of(plan.steps.begin(), plan.steps.end(), rename);
  });
  for (std::vector<EventId>& acquires : claim.acquires) {
    std::for_each(acquires.begin(), acquires.end(), rename);
  }
  return !claim.candidates.empty() || !claim.plans.empty() || !claim.acquires.empty();
}

// How much of the trace the claims need.
std::uint64_t needed_events(const std::vector<Claim>& claims) {
  std::uint64_t needed = 0;
  for (const Claim& claim : claims) {
    for (const Candidate& candidate : claim.candidates) {
      needed = std::max(needed, raw(candidate.second) + 1);
    }
    for (const std::vector<EventId>& acquires : claim.acquires) {
      for (const EventId acquire : acquires) {
        needed = std::max(needed, raw(acquire) + 1);
      }
    }
    for (const RacePlan& plan : claim.plans) {
      needed = std::max(needed, raw(plan.race.second) + 1);
    }
  }
  return needed;
}

// The claim has no witness. What an analysis has shown that does not look at reads is said all the same.
void leave_open(Claim& claim, std::string why, ProofCount& count) {
  if (claim.data_abstraction) {
    why = "reachable under data abstraction, that is, if reads may see anything; " + why;
  }
  claim.finding.witness.emplace().why = std::move(why);
  ++count.open;
}

void leave_refuted(Claim& claim, ProofCount& count) {
  say_refuted(claim);
  ++count.refuted;
  if (claim.finding.kind == FindingKind::kRace) {
    count.refuted_sites.emplace_back(claim.low_site, claim.high_site);
  }
}

void give_up(std::vector<Claim>& claims, const std::string& why, ProofCount& count) {
  for (Claim& claim : claims) {
    leave_open(claim, why, count);
  }
}

}  // namespace

void say_refuted(Claim& claim) {
  WitnessSummary& none = claim.finding.witness.emplace();
  none.refuted = true;
  none.why = "no reordering of the recorded run in which every read keeps its value reaches it";
  if (claim.data_abstraction) {
    none.why += "; one in which reads may see anything does";
  }
}

ProofCount prove(std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables,
                 const ProofOptions& options) {
  ProofCount count;
  TraceView view = capture.view(tables);
  std::vector<bool> is_beyond(claims.size());
  for (std::size_t i = 0; capture.is_projection() && i < claims.size(); ++i) {
    is_beyond[i] = !rename_to_positions(claims[i], capture);
  }
  const bool needed = std::any_of(claims.begin(), claims.end(), [](const Claim& c) { return !c.finding.observed; });
  const std::uint64_t limit =
      needed ? options.max_events : std::min(options.max_events, options.max_events_if_observed);
  const std::uint64_t events = needed_events(claims);
  if (options.max_events == 0) {
    give_up(claims, "none was looked for (--witness-events 0)", count);
    return count;
  }
  if (!needed && events > limit) {
    give_up(claims, "none was looked for: the recorded run itself shows the race", count);
    return count;
  }
  // With the whole trace all pairs of two sites can be tried; otherwise what comes after the examples is of no use.
  if (!capture.whole() || view.events.size() > options.max_events_for_heuristics) {
    view = first_events(view, std::min<std::size_t>(view.events.size(), events));
  }
  if (claims.empty() || (options.out_of_time && options.out_of_time())) {
    give_up(claims, kNotLookedFor, count);
    return count;
  }
  const Prover prover(capture, view, options);
  for (Claim& claim : claims) {
    if (options.progress) {
      options.progress(static_cast<std::uint64_t>(&claim - claims.data()), claims.size());
    }
    Verdict verdict;
    if (options.out_of_time && options.out_of_time()) {
      verdict.why = kNotLookedFor;
    } else if (is_beyond[static_cast<std::size_t>(&claim - claims.data())]) {
      verdict.why = prover.beyond();
    } else if (claim.heuristic && claim.finding.kind != FindingKind::kDeadlock &&
               view.events.size() > options.max_events_for_heuristics) {
      StopPoll poll(options.out_of_time);
      verdict.witness = prover.try_plans(claim, poll);
      verdict.why = claim.plans.empty()
                        ? "none was looked for: only analyses that guess have named it, and the trace is long"
                        : "the way that was found lies too far back (--witness-search-events), or a read on it "
                          "would see something else, and the trace is long";
    } else if (claim.finding.kind == FindingKind::kDeadlock) {
      verdict = prover.try_deadlock(claim);
    } else {
      verdict = prover.try_race(claim);
    }
    if (verdict.witness.has_value()) {
      const TraceView seen = part_for(*verdict.witness, view);
      const Status status = check_witness(seen, *verdict.witness);
      if (status.ok()) {
        show_witness(claim.finding, options.whole_witnesses ? *verdict.witness : shrink(seen, *verdict.witness), prover,
                     capture, seen, tables);
        ++count.checked;
        continue;
      }
      ++count.rejected;
      verdict.why = rejection(status);
    }
    if (verdict.refuted) {
      leave_refuted(claim, count);
    } else {
      leave_open(claim, verdict.why, count);
    }
  }
  return count;
}

void prove_given(std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables, ProofCount& count) {
  if (claims.empty()) {
    return;
  }
  const TraceView view = capture.view(tables);
  const ProofOptions options;
  const Prover prover(capture, view, options);
  for (Claim& claim : claims) {
    const TraceView seen = part_for(*claim.given, view);
    const Status status = check_witness(seen, *claim.given);
    if (status.ok()) {
      show_witness(claim.finding, shrink(seen, *claim.given), prover, capture, seen, tables);
      ++count.checked;
    } else {
      ++count.rejected;
      leave_open(claim, rejection(status), count);
    }
  }
}

}  // namespace sooth
