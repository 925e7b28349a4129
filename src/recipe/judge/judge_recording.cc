#include "recipe/judge/judge_recording.h"

#include <algorithm>
#include <vector>

#include "recipe/judge/check.h"
#include "recipe/judge/recorded_run.h"

namespace sooth {
namespace {

constexpr std::size_t kPrefixes = 24;

// The first event at or behind `from` of each thread that has one.
std::vector<std::size_t> next_events(const TraceView& trace, std::size_t from) {
  std::vector<std::size_t> next;
  std::vector<bool> found;
  for (std::size_t id = from; id < trace.events.size(); ++id) {
    const std::size_t thread = raw(trace.events[id].thread);
    found.resize(std::max(found.size(), thread + 1));
    if (!found[thread]) {
      found[thread] = true;
      next.push_back(id);
    }
  }
  return next;
}

// Whether the reordering was right and only what comes next is no race.
bool is_only_no_race(const std::string& message) {
  return message.find("is no access") != std::string::npos || message.find("do not conflict") != std::string::npos ||
         message.find(" cannot come next: ") != std::string::npos;
}

}  // namespace

std::string judge_recording(const DeepProgram& program, const TraceView& trace) {
  const Result<ValueJudge> judge = ValueJudge::make(program, trace);
  if (!judge.ok()) {
    return judge.status().message() + "\n";
  }
  std::string problems;
  const RecordedRun& run = judge->recorded_run();
  for (std::uint32_t t = 0; t < run.tapes().size(); ++t) {
    if (!run.extent(t).why.empty()) {
      problems += "thread " + std::to_string(t) + ": " + std::to_string(run.extent(t).events) + " of " +
                  std::to_string(run.tapes()[t].events.size()) + " events explained: " + run.extent(t).why + "\n";
    }
  }
  for (std::size_t i = 1; i <= kPrefixes && problems.size() < 2000; ++i) {
    const std::size_t length = trace.events.size() * i / kPrefixes;
    ValueWitness witness;
    for (std::size_t id = 0; id < length; ++id) {
      witness.order.push_back(EventId{id});
    }
    const std::vector<std::size_t> next = next_events(trace, length);
    for (std::size_t other = 1; other < std::min<std::size_t>(next.size(), 4); ++other) {
      witness.next[0] = {trace.events[next[0]].thread, EventId{next[0]}, {}, {}};
      witness.next[1] = {trace.events[next[other]].thread, EventId{next[other]}, {}, {}};
      const Status status = judge->check(witness);
      if (!status.ok() && !is_only_no_race(status.message())) {
        problems += "the first " + std::to_string(length) + " events, then " + std::to_string(next[0]) + " and " +
                    std::to_string(next[other]) + ": " + status.message() + "\n";
      }
    }
  }
  return problems;
}

}  // namespace sooth
