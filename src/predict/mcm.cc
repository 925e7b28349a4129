#include "predict/mcm.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "predict/closure.h"
#include "predict/deadlock_cycles.h"
#include "predict/order_formula.h"
#include "predict/race_candidates.h"
#include "predict/saturation.h"

namespace sooth {
namespace {

// One pair of accesses, or the acquires of one cycle, in one window.
class Question {
 public:
  Question(const TraceIndex& index, const Window& window, FindingKind kind, std::vector<EventIndex> targets,
           const McmOptions& options, Effort& effort)
      : index_(index),
        window_(window),
        kind_(kind),
        options_(options),
        effort_(effort),
        targets_(std::move(targets)),
        poll_(options.out_of_time) {}

  Prediction answer() {
    effort_ = {DecidedBy::kSaturation, 0};
    if (share_a_thread(index_, targets_)) {
      return Infeasible{};
    }
    if (options_.stages.closure) {
      if (const auto closure = sync_preserving_closure(index_, window_, targets_, &poll_)) {
        effort_.decided_by = DecidedBy::kClosure;
        return witness(closure->in_trace_order());
      }
    }
    const std::optional<Bounds> bounds =
        saturate(index_, window_, targets_,
                 {.end_sections = options_.stages.saturation, .reads = ReadRule::kAdmissible, .poll = &poll_});
    if (!bounds) {
      return no();
    }
    if (options_.stages.search && !poll_.stopped()) {
      if (std::optional<Prediction> found = search(*bounds)) {
        return *std::move(found);
      }
    }
    if (poll_.stopped()) {
      return no();
    }
    if (!options_.stages.solver || options_.solver_timeout.count() == 0) {
      return Unknown{"the search gave up after " + std::to_string(effort_.states) + " states, and no solver was asked"};
    }
    return solve(*bounds);
  }

 private:
  // Unless the time was over: then what looked for an answer may have stopped half-way.
  Prediction no() const { return poll_.stopped() ? Prediction(Unknown{kOutOfTime}) : Prediction(Infeasible{}); }

  Witness witness(std::vector<EventId> order) const {
    std::vector<EventId> next;
    for (const EventIndex target : targets_) {
      next.push_back(EventId{target});
    }
    return {kind_, std::move(order), std::move(next)};
  }

  // What has happened before the window.
  std::vector<EventId> past() const {
    std::vector<EventId> order;
    for (EventIndex e = 0; e < window_.begin; ++e) {
      order.push_back(EventId{e});
    }
    return order;
  }

  // Nothing: go on.
  std::optional<Prediction> search(const Bounds& bounds) {
    effort_.decided_by = DecidedBy::kSearch;
    std::optional<Bounds> strict;
    if (!index_.reads_are_fixed()) {
      strict = saturate(index_, window_, targets_, {.end_sections = options_.stages.saturation, .poll = &poll_});
      if (!strict || poll_.stopped()) {
        return std::nullopt;
      }
    }
    std::vector<EventId> order = past();
    switch (search_order(index_, window_, strict ? *strict : bounds, options_.search, order, effort_.states, &poll_)) {
      case SearchOutcome::kReached: return witness(std::move(order));
      case SearchOutcome::kExhausted: return index_.reads_are_fixed() ? std::optional<Prediction>(no()) : std::nullopt;
      case SearchOutcome::kGaveUp: break;
    }
    return std::nullopt;
  }

  Prediction solve(const Bounds& bounds) {
    effort_.decided_by = DecidedBy::kSolver;
    OrderFormula formula(index_, window_, bounds, {options_.solver_timeout, options_.out_of_time}, &poll_);
    if (poll_.stopped()) {
      return no();
    }
    switch (formula.solve()) {
      case OrderSolver::Answer::kNo: return no();
      case OrderSolver::Answer::kYes: {
        std::vector<EventId> order = past();
        for (const EventIndex e : formula.order()) {
          order.push_back(EventId{e});
        }
        return witness(std::move(order));
      }
      case OrderSolver::Answer::kUnknown: break;
    }
    if (poll_.stop(StopPoll::kStride)) {
      return no();
    }
    return Unknown{"the solver has no answer after " + std::to_string(options_.solver_timeout.count()) +
                   " ms (--solver-timeout): " + formula.why()};
  }

  const TraceIndex& index_;
  const Window& window_;
  const FindingKind kind_;
  const McmOptions& options_;
  Effort& effort_;
  const std::vector<EventIndex> targets_;
  StopPoll poll_;
};

// All dynamic pairs of two sites, until one is a race.
McmSitePair decide(const TraceIndex& index, const RaceCandidates& candidates, std::size_t sites,
                   const McmOptions& options, bool& left_out) {
  McmSitePair result;
  result.low_site = candidates.sites(sites).low;
  result.high_site = candidates.sites(sites).high;
  result.answer = McmSitePair::Answer::kNoRace;
  const Windows windows(index, options.window);
  StopPoll poll(options.out_of_time);
  RaceCandidates::Pairs pairs(
      candidates, sites, [&](EventIndex second) { return windows.begin(second); }, &poll);
  while (const std::optional<Candidate> pair = pairs.next()) {
    if (result.asked == options.max_pairs) {
      result.answer = McmSitePair::Answer::kUnknown;
      result.why =
          "none of the first " + std::to_string(options.max_pairs) + " pairs of accesses can meet, and there are more";
      break;
    }
    if (options.out_of_time && options.out_of_time()) {
      result.answer = McmSitePair::Answer::kUnknown;
      result.why = kOutOfTime;
      break;
    }
    ++result.asked;
    Effort effort;
    const Window window = windows.window(static_cast<EventIndex>(raw(pair->second)));
    result.complete = result.complete && windows.is_whole();
    Prediction prediction = predict_race(index, *pair, options, &window, &effort);
    if (Unknown* unknown = std::get_if<Unknown>(&prediction)) {
      result.answer = McmSitePair::Answer::kUnknown;
      result.why = std::move(unknown->reason);
      ++result.unknown;
      continue;
    }
    ++result.decided_by[static_cast<int>(effort.decided_by)];
    if (Witness* witness = std::get_if<Witness>(&prediction)) {
      result.answer = McmSitePair::Answer::kRace;
      result.witness = std::move(*witness);
      result.why.clear();
      break;
    }
  }
  if (result.answer == McmSitePair::Answer::kNoRace && (poll.stopped() || !candidates.why_not_all().empty())) {
    result.answer = McmSitePair::Answer::kUnknown;
    result.why = poll.stopped() ? kOutOfTime : candidates.why_not_all();
  }
  left_out = pairs.left_out();
  result.complete = result.complete && !left_out;
  return result;
}

}  // namespace

Prediction predict_race(const TraceIndex& index, Candidate pair, const McmOptions& options, const Window* window,
                        Effort* effort) {
  Effort unused;
  const Window whole = window == nullptr ? Window(index) : *window;
  return Question(index, whole, FindingKind::kRace,
                  {static_cast<EventIndex>(raw(pair.first)), static_cast<EventIndex>(raw(pair.second))}, options,
                  effort != nullptr ? *effort : unused)
      .answer();
}

Prediction predict_deadlock(const TraceIndex& index, std::span<const EventId> acquires, const McmOptions& options,
                            const Window* window, Effort* effort) {
  std::optional<std::vector<EventIndex>> cycle = deadlock_cycle(index, acquires);
  if (!cycle) {
    return Infeasible{};
  }
  Effort unused;
  const Window whole = window == nullptr ? Window(index) : *window;
  return Question(index, whole, FindingKind::kDeadlock, std::move(*cycle), options,
                  effort != nullptr ? *effort : unused)
      .answer();
}

McmResult find_mcm_races(const TraceIndex& index, const McmOptions& options,
                         const std::function<bool(SiteId low, SiteId high)>& skip) {
  const RaceCandidates candidates(index, skip, {}, options.out_of_time);
  McmResult result;
  result.why_not_all = candidates.why_not_all();
  result.skipped = candidates.skipped();
  result.pairs.resize(candidates.size());
  std::vector<char> left_out(candidates.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto work = [&](bool reports) {
    for (std::size_t i = next++; i < candidates.size(); i = next++) {
      bool some = false;
      result.pairs[i] = decide(index, candidates, i, options, some);
      left_out[i] = some ? 1 : 0;
      ++done;
      if (reports && options.progress) {
        options.progress(done, candidates.size());
      }
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min<std::size_t>(options.jobs, candidates.size()); ++i) {
    helpers.emplace_back(work, false);
  }
  work(true);
  for (std::thread& helper : helpers) {
    helper.join();
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    result.candidates += result.pairs[i].asked;
    result.far_pairs += left_out[i] != 0 && result.pairs[i].answer == McmSitePair::Answer::kNoRace ? 1 : 0;
  }
  return result;
}

}  // namespace sooth
