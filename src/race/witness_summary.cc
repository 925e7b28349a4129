#include "race/witness_summary.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace sooth {
namespace {

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

}  // namespace sooth
