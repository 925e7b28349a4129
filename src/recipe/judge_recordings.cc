// For tests/recipe/judge.py: how the judge of value witnesses gets along with real recordings.
//
//   judge_recordings DIRECTORY...
//
// For each thread prints how many of its events its code explains. Then takes reorderings that must be right: the recorded order up to
// some event, with what two threads do next. Ends with 1 when one is rejected for another reason than that those two do not race.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "race/trace_store.h"
#include "recipe/check.h"
#include "trace/reader.h"

namespace sooth {
namespace {

constexpr std::size_t kPrefixes = 40;  // of one recording

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

int judge(const std::string& path) {
  const Result<DeepProgram> program = DeepProgram::load(path);
  if (!program.ok()) {
    std::printf("%s: %s\n", path.c_str(), program.status().message().c_str());
    return 1;
  }
  auto reader = open_trace(path, {kValues | kReaches | kDeep});
  Result<TraceStore> store = reader.ok() ? load_trace(**reader, 100'000'000, kWholeTrace) : reader.status();
  if (!store.ok()) {
    std::printf("%s: %s\n", path.c_str(), store.status().message().c_str());
    return 1;
  }
  const TraceView trace = store->view();
  const Result<ValueJudge> judge = ValueJudge::make(*program, trace);
  if (!judge.ok()) {
    std::printf("%s: %s\n", path.c_str(), judge.status().message().c_str());
    return 1;
  }
  const RecordedRun& run = judge->recorded_run();
  for (std::uint32_t t = 0; t < run.tapes().size(); ++t) {
    std::printf("%s: T%u: %zu of %zu events explained%s%s\n", path.c_str(), t, run.extent(t).events,
                run.tapes()[t].events.size(), run.extent(t).why.empty() ? "" : "; ", run.extent(t).why.c_str());
  }
  std::size_t races = 0;
  std::size_t others = 0;
  int failed = 0;
  for (std::size_t i = 1; i <= kPrefixes; ++i) {
    const std::size_t length = trace.events.size() * i / kPrefixes;
    ValueWitness witness;
    for (std::size_t id = 0; id < length; ++id) {
      witness.order.push_back(EventId{id});
    }
    const std::vector<std::size_t> next = next_events(trace, length);
    for (std::size_t other = 1; other < next.size(); ++other) {
      witness.next[0] = {trace.events[next[0]].thread, EventId{next[0]}, {}, {}};
      witness.next[1] = {trace.events[next[other]].thread, EventId{next[other]}, {}, {}};
      const Status status = judge->check(witness);
      ++(status.ok() ? races : others);
      if (!status.ok() && !is_only_no_race(status.message())) {
        std::printf("%s: %zu events, then %zu and %zu: %s\n", path.c_str(), length, next[0], next[other],
                    status.message().c_str());
        failed = 1;
      }
    }
  }
  std::printf("%s: %zu reorderings with a race, %zu without\n", path.c_str(), races, others);
  return failed;
}

}  // namespace
}  // namespace sooth

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    failed |= sooth::judge(argv[i]);
  }
  return failed;
}
