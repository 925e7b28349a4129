#include "race/witness_summary.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "race/witness_drawing.h"

namespace sooth {
namespace {

// What people get to read of a long witness.
constexpr std::size_t kMaxSteps = 40;
constexpr std::size_t kMaxSwaps = 10;

// The events of each thread, in order.
class ThreadEvents {
 public:
  explicit ThreadEvents(std::span<const Event> events) {
    for (std::size_t id = 0; id < events.size(); ++id) {
      const std::size_t thread = raw(events[id].thread);
      if (thread >= of_thread_.size()) {
        of_thread_.resize(thread + 1);
      }
      of_thread_[thread].push_back(EventId{id});
    }
  }

  std::span<const EventId> of(ThreadId thread) const {
    return raw(thread) < of_thread_.size() ? std::span<const EventId>(of_thread_[raw(thread)])
                                           : std::span<const EventId>();
  }

 private:
  std::vector<std::vector<EventId>> of_thread_;
};

std::string run_text(const WitnessSummary::Run& run) {
  return "the run [" + std::to_string(raw(run.thread)) + ", " + std::to_string(raw(run.first)) + ", " +
         std::to_string(raw(run.last)) + "]";
}

// Appends the events of the run.
Status append(const WitnessSummary::Run& run, const ThreadEvents& events, std::size_t limit,
              std::vector<EventId>& order) {
  const std::span<const EventId> own = events.of(run.thread);
  const auto first = std::lower_bound(own.begin(), own.end(), run.first);
  const auto last = std::lower_bound(own.begin(), own.end(), run.last);
  for (const auto& [at, event] : {std::pair(first, run.first), std::pair(last, run.last)}) {
    if (at == own.end() || *at != event) {
      return Status::bad_input(run_text(run) + " is wrong: event " + std::to_string(raw(event)) +
                               " is none of thread " + std::to_string(raw(run.thread)));
    }
  }
  if (last < first) {
    return Status::bad_input(run_text(run) + " ends before it begins");
  }
  if (static_cast<std::size_t>(last - first) + 1 > limit - order.size()) {
    return Status::bad_input(run_text(run) + " makes the order longer than the trace");
  }
  order.insert(order.end(), first, last + 1);
  return {};
}

// Code of the program, as far as one can tell by its path: what a person reading a witness looks for.
bool is_own_code(const Site& site) {
  return !site.file.empty() && !site.file.starts_with("/usr/include/") && !site.file.starts_with("/usr/lib/");
}

// Where a run begins or ends in the program's own code; where it has none, in whatever it has.
const Site& end_of_run(const WitnessSummary::Run& run, bool is_last, const TraceView& trace) {
  constexpr std::uint64_t kFarthest = 10'000;
  const std::uint64_t from = raw(is_last ? run.last : run.first);
  for (std::uint64_t step = 0; step <= std::min(raw(run.last) - raw(run.first), kFarthest); ++step) {
    const Event& e = trace.events[is_last ? from - step : from + step];
    if (e.thread == run.thread && is_own_code(trace.tables->site(e.site))) {
      return trace.tables->site(e.site);
    }
  }
  return trace.tables->site(trace.events[from].site);
}

// The last runs with names, as far as the trace has them.
std::vector<WitnessStep> steps_of(const std::vector<WitnessSummary::Run>& runs, const TraceView& trace) {
  std::vector<WitnessStep> steps;
  if (trace.tables == nullptr) {
    return steps;
  }
  for (std::size_t i = runs.size() - std::min(runs.size(), kMaxSteps); i < runs.size(); ++i) {
    steps.push_back({trace.tables->thread_name(runs[i].thread), runs[i].first, runs[i].last,
                     end_of_run(runs[i], false, trace), end_of_run(runs[i], true, trace)});
  }
  return steps;
}

// Outermost acquires in the order of the witness that overtake the one before them on the same lock.
std::vector<SectionSwap> swaps_of(const std::vector<EventId>& order, const TraceView& trace) {
  std::vector<SectionSwap> swaps;
  if (trace.tables == nullptr) {
    return swaps;
  }
  const auto start = [&](EventId id) {
    const Event& e = trace.events[raw(id)];
    return SectionStart{trace.tables->thread_name(e.thread), id, trace.tables->site(e.site)};
  };
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> depth;
  std::map<std::uint64_t, EventId> latest;  // by lock: of the acquires so far, the one that came last in the trace
  for (const EventId id : order) {
    const Event& e = trace.events[raw(id)];
    if (e.op == Op::kRelease) {
      --depth[{e.thread, e.object}];
    }
    if (e.op != Op::kAcquire || depth[{e.thread, e.object}]++ > 0) {
      continue;
    }
    const auto [it, first] = latest.try_emplace(e.object, id);
    if (!first && it->second > id && swaps.size() < kMaxSwaps) {
      swaps.push_back({trace.tables->describe(ObjectKind::kLock, e.object), start(it->second), start(id)});
    }
    it->second = std::max(it->second, id);
  }
  return swaps;
}

}  // namespace

WitnessSummary summarise(const Witness& witness, const TraceView& trace) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> last_of_thread;
  std::vector<std::uint64_t> previous(trace.events.size());  // in the thread of the event
  for (std::size_t id = 0; id < trace.events.size(); ++id) {
    const std::size_t thread = raw(trace.events[id].thread);
    if (thread >= last_of_thread.size()) {
      last_of_thread.resize(thread + 1, kNone);
    }
    previous[id] = std::exchange(last_of_thread[thread], id);
  }
  WitnessSummary summary;
  summary.checked = true;
  if (witness.order.size() <= kMaxListedOrder) {
    summary.order = witness.order;
  }
  for (const EventId id : witness.order) {
    if (!summary.runs.empty() && previous[raw(id)] == raw(summary.runs.back().last)) {
      summary.runs.back().last = id;
    } else {
      summary.runs.push_back({trace.events[raw(id)].thread, id, id});
    }
  }
  summary.steps = steps_of(summary.runs, trace);
  summary.swaps = swaps_of(witness.order, trace);
  summary.drawing = draw(witness, summary, trace);
  return summary;
}

Result<std::vector<EventId>> expand(const WitnessSummary& summary, const TraceView& trace) {
  if (summary.runs.empty()) {
    return summary.order;
  }
  const ThreadEvents events(trace.events);
  std::vector<EventId> order;
  for (const WitnessSummary::Run& run : summary.runs) {
    SOOTH_RETURN_IF_ERROR(append(run, events, trace.events.size(), order));
  }
  if (!summary.order.empty() && summary.order != order) {
    return Status::bad_input("the order and its runs do not say the same");
  }
  return order;
}

EventId events_named(const Finding& finding) {
  std::uint64_t named = 0;
  const auto name = [&](EventId id) {
    named = std::max(named, raw(id) == std::numeric_limits<std::uint64_t>::max() ? raw(id) : raw(id) + 1);
  };
  for (const Access& access : finding.accesses) {
    if (access.executed) {
      name(access.event);
    }
  }
  if (finding.witness.has_value()) {
    std::for_each(finding.witness->order.begin(), finding.witness->order.end(), name);
    for (const WitnessSummary::Run& run : finding.witness->runs) {
      name(run.last);
    }
  }
  return EventId{named};
}

}  // namespace sooth
