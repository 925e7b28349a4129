#include "predict/search.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "predict/closure.h"
#include "predict/deadlock_cycles.h"
#include "predict/saturation.h"
#include "predict/scheduler.h"

namespace sooth {
namespace {

struct KeyHash {
  std::size_t operator()(const Scheduler::Key& key) const { return key.low; }
};

// Depth first through the choices that the scheduler leaves, never twice from the same state.
class Search {
 public:
  Search(const TraceIndex& index, const Window& window, const Bounds& bounds, const Budget& budget, StopPoll* poll)
      : scheduler_(index, window, bounds, poll),
        max_states_(budget.states),
        max_steps_(kStepsPerState * budget.states),
        poll_(poll) {
    for (std::size_t t = 0; t < bounds.allowed.size(); ++t) {
      max_steps_ += kPassesForFree * (bounds.allowed[t] - window.floor[t]);
    }
  }

  SearchOutcome run() {
    for (;;) {
      if (!stopped(poll_)) {  // else the scheduler may be half made
        scheduler_.advance();
      }
      if (stopped(poll_)) {
        return SearchOutcome::kGaveUp;
      }
      if (scheduler_.reached()) {
        return SearchOutcome::kReached;
      }
      if (visited_.size() >= max_states_ || scheduler_.steps() > max_steps_) {
        return SearchOutcome::kGaveUp;
      }
      if (visited_.insert(scheduler_.key()).second) {
        nodes_.push_back({scheduler_.order().size(), scheduler_.choices(), 0});
      }
      while (!nodes_.empty() && nodes_.back().next == nodes_.back().choices.size()) {
        nodes_.pop_back();
      }
      if (nodes_.empty()) {
        return SearchOutcome::kExhausted;
      }
      Node& node = nodes_.back();
      scheduler_.undo_to(node.events);
      scheduler_.execute(node.choices[node.next++]);
    }
  }

  std::span<const EventIndex> order() const { return scheduler_.order(); }
  std::uint64_t states() const { return visited_.size(); }

 private:
  // A state may cost many steps: executing most of the trace again. Both count.
  static constexpr std::uint64_t kStepsPerState = 64;
  static constexpr std::uint64_t kPassesForFree = 4;

  struct Node {
    std::size_t events = 0;              // executed there
    std::vector<std::uint32_t> choices;  // threads
    std::size_t next = 0;
  };

  Scheduler scheduler_;
  const std::uint64_t max_states_;
  std::uint64_t max_steps_;
  StopPoll* const poll_;
  std::unordered_set<Scheduler::Key, KeyHash> visited_;
  std::vector<Node> nodes_;
};

// The one place that says "no": never when the time was over.
Prediction infeasible_or_unknown(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets,
                                 StopPoll& poll) {
  if (!poll.stopped() &&
      (index.reads_are_fixed() || !saturate(index, window, targets, {.reads = ReadRule::kAdmissible, .poll = &poll})) &&
      !poll.stopped()) {
    return Infeasible{};
  }
  if (poll.stopped()) {
    return Unknown{kOutOfTime};
  }
  return Unknown{
      "no reordering lets every read see the write that it saw; by the branches or values of the trace some "
      "reads may see others (--with mcm looks at these)"};
}

// A reordering after which all targets are next.
Prediction reach(const TraceIndex& index, FindingKind kind, std::span<const EventIndex> targets, const Budget& budget,
                 Effort& effort, const SearchStages& stages) {
  const Window window(index);
  StopPoll poll(budget.out_of_time);
  Witness witness;
  witness.kind = kind;
  for (const EventIndex target : targets) {
    witness.next.push_back(EventId{target});
  }
  const std::optional<PrefixClosure> closure =
      stages.closure ? sync_preserving_closure(index, window, targets, &poll) : std::optional<PrefixClosure>{};
  if (closure) {
    effort.decided_by = DecidedBy::kClosure;
    witness.order = closure->in_trace_order();
    return witness;
  }
  effort.decided_by = DecidedBy::kSaturation;
  const std::optional<Bounds> bounds =
      saturate(index, window, targets, {.infer_order = stages.inference, .poll = &poll});
  if (!bounds || poll.stopped()) {
    return infeasible_or_unknown(index, window, targets, poll);
  }
  effort.decided_by = DecidedBy::kSearch;
  switch (search_order(index, window, *bounds, budget, witness.order, effort.states, &poll)) {
    case SearchOutcome::kReached: return witness;
    case SearchOutcome::kExhausted: return infeasible_or_unknown(index, window, targets, poll);
    case SearchOutcome::kGaveUp: break;
  }
  return poll.stopped() ? Unknown{kOutOfTime}
                        : Unknown{"the search gave up after " + std::to_string(effort.states) + " states"};
}

}  // namespace

SearchOutcome search_order(const TraceIndex& index, const Window& window, const Bounds& bounds, const Budget& budget,
                           std::vector<EventId>& order, std::uint64_t& states, StopPoll* poll) {
  Search search(index, window, bounds, budget, poll);
  const SearchOutcome outcome = search.run();
  states = search.states();
  if (outcome == SearchOutcome::kReached) {
    for (const EventIndex e : search.order()) {
      order.push_back(EventId{e});
    }
  }
  return outcome;
}

Prediction find_race(const TraceIndex& index, Candidate candidate, const Budget& budget, Effort* effort,
                     const SearchStages& stages) {
  Effort unused;
  Effort& used = effort != nullptr ? *effort : unused;
  used = {DecidedBy::kSaturation, 0};
  const EventIndex targets[] = {static_cast<EventIndex>(raw(candidate.first)),
                                static_cast<EventIndex>(raw(candidate.second))};
  if (share_a_thread(index, targets)) {
    return Infeasible{};
  }
  return reach(index, FindingKind::kRace, targets, budget, used, stages);
}

Prediction find_deadlock(const TraceIndex& index, std::span<const EventId> acquires, const Budget& budget,
                         Effort* effort, const SearchStages& stages) {
  Effort unused;
  Effort& used = effort != nullptr ? *effort : unused;
  used = {DecidedBy::kSaturation, 0};
  const std::optional<std::vector<EventIndex>> cycle = deadlock_cycle(index, acquires);
  if (!cycle) {
    return Infeasible{};
  }
  return reach(index, FindingKind::kDeadlock, *cycle, budget, used, stages);
}

}  // namespace sooth
