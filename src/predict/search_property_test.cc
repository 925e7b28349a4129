// Closure and search against their definitions, on thousands of random traces and on the golden ones. SOOTH_CASES sets
// the number of traces, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/random_trace.h"
#include "oracle/sync_preserving.h"
#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"
#include "predict/closure.h"
#include "predict/search.h"

namespace sooth::oracle {
namespace {

// How many questions were settled by what.
struct Tally {
  std::uint64_t witnesses = 0, infeasible = 0;
  std::uint64_t by[2][3] = {};  // [is it a witness][DecidedBy]
  std::uint64_t states = 0;

  void add(const Prediction& prediction, const Effort& effort) {
    const bool found = std::holds_alternative<Witness>(prediction);
    ++(found ? witnesses : infeasible);
    ++by[found ? 1 : 0][static_cast<int>(effort.decided_by)];
    states += effort.states;
  }
};

std::string show(std::span<const EventId> events) {
  std::string text;
  for (const EventId e : events) {
    text += " " + std::to_string(raw(e));
  }
  return text;
}

// Empty when the prediction is what the explorer says and, when it is a witness, a right one.
std::string object_to(const Prediction& prediction, std::span<const Event> trace, bool expected) {
  if (const Unknown* unknown = std::get_if<Unknown>(&prediction)) {
    return "unknown: " + unknown->reason;
  }
  const Witness* witness = std::get_if<Witness>(&prediction);
  if ((witness != nullptr) != expected) {
    return expected ? "infeasible, but the explorer gets there"
                    : "a witness, but the explorer finds none:" + show(witness->order);
  }
  const std::string wrong = witness != nullptr ? why_no_witness({trace, {}, {}}, *witness) : "";
  return wrong.empty() ? "" : wrong + ":" + show(witness->order);
}

std::string check_closure(const TraceIndex& index, const SyncPreservingClosures& closures, Index a, Index b) {
  const EventIndex targets[] = {static_cast<EventIndex>(a), static_cast<EventIndex>(b)};
  const Index naive_targets[] = {a, b};
  const std::optional<PrefixClosure> closure = sync_preserving_closure(index, Window(index), targets);
  const std::optional<std::vector<Index>> naive = closures.before(naive_targets);
  if (closure.has_value() != naive.has_value()) {
    return naive ? "there is a closure" : "there is no closure";
  }
  const std::vector<EventId> order = closure ? closure->in_trace_order() : std::vector<EventId>{};
  const bool same = !closure || std::equal(order.begin(), order.end(), naive->begin(), naive->end(),
                                           [](EventId id, Index e) { return raw(id) == e; });
  return same ? "" : "the closure is another one:" + show(order);
}

std::string check_races(const TraceIndex& index, std::span<const Event> trace, const Exploration& truth,
                        const SearchStages& stages, Tally& tally) {
  const Memory memory(trace);
  const SyncPreservingClosures closures(trace, true);
  for (Index b = 0; b < trace.size(); ++b) {
    for (Index a = 0; a < b; ++a) {
      if (!memory.is_access(a) || !memory.is_access(b) || !memory.conflict(a, b)) {
        continue;
      }
      const Candidate pair{EventId{a}, EventId{b}};
      Effort effort;
      const Prediction prediction = find_race(index, pair, Budget{}, &effort, stages);
      std::string wrong = object_to(prediction, trace, truth.races.contains({pair.first, pair.second}));
      wrong = wrong.empty() ? check_closure(index, closures, a, b) : wrong;
      if (!wrong.empty()) {
        return "race " + std::to_string(a) + "," + std::to_string(b) + ": " + wrong;
      }
      tally.add(prediction, effort);
    }
  }
  return "";
}

// Pairs and triples of acquires of different threads.
std::string check_deadlocks(const TraceIndex& index, std::span<const Event> trace, const Exploration& truth,
                            const SearchStages& stages, Tally& tally) {
  std::vector<std::vector<EventId>> questions;
  std::vector<EventId> acquires;
  for (Index e = 0; e < trace.size(); ++e) {
    if (trace[e].op == Op::kAcquire) {
      acquires.push_back(EventId{e});
    }
  }
  for (std::size_t a = 0; a < acquires.size(); ++a) {
    for (std::size_t b = a + 1; b < acquires.size(); ++b) {
      questions.push_back({acquires[a], acquires[b]});
      for (std::size_t c = b + 1; c < acquires.size(); ++c) {
        questions.push_back({acquires[a], acquires[b], acquires[c]});
      }
    }
  }
  for (const std::vector<EventId>& question : questions) {
    Effort effort;
    const Prediction prediction = find_deadlock(index, question, Budget{}, &effort, stages);
    const std::string wrong = object_to(prediction, trace, truth.deadlocks.contains(question));
    if (!wrong.empty()) {
      return "deadlock" + show(question) + ": " + wrong;
    }
    tally.add(prediction, effort);
  }
  return "";
}

struct Tallies {
  Tally races, deadlocks;
  std::uint64_t skipped = 0;  // too large for the explorer
};

// The first wrong answer about the trace; empty when there is none.
std::string disagreement(std::span<const Event> trace, const SearchStages& stages, Tallies& tallies) {
  const Exploration truth = explore(trace, 100'000);
  if (!truth.complete) {
    ++tallies.skipped;
    return "";
  }
  const TraceIndex index(TraceView{trace, {}, {}});
  const std::string wrong = check_races(index, trace, truth, stages, tallies.races);
  return wrong.empty() ? check_deadlocks(index, trace, truth, stages, tallies.deadlocks) : wrong;
}

// Locks in which little else happens: here the order of sections decides.
RandomTraceOptions lock_options(std::uint64_t seed) {
  RandomTraceOptions options;
  options.events = 12 + static_cast<std::uint32_t>(seed / 9 % 20);
  options.threads = 2 + static_cast<std::uint32_t>(seed / 72 % 3);
  options.locks = 2 + static_cast<std::uint32_t>(seed / 216 % 2);
  options.variables = 1 + static_cast<std::uint32_t>(seed / 432 % 2);
  options.shared_percent = seed / 864 % 2 == 0 ? 0 : 30;
  options.reentrant_percent = 5;
  options.try_percent = seed / 3456 % 2 == 0 ? 0 : 30;
  options.nested = seed / 1728 % 2 == 0;
  options.forked_percent = 20;
  options.weights[static_cast<std::size_t>(Action::kAccess)] = seed / 3 % 2 == 0 ? 2 : 6;
  options.weights[static_cast<std::size_t>(Action::kAcquire)] = 10;
  options.weights[static_cast<std::size_t>(Action::kRelease)] = 7;
  options.weights[static_cast<std::size_t>(Action::kFork)] = 1;
  options.weights[static_cast<std::size_t>(Action::kNotify)] = 1;
  options.weights[static_cast<std::size_t>(Action::kWait)] = 1;
  return options;
}

RandomTrace tiny_trace(std::uint64_t seed) {
  const std::size_t kind = seed % 10;
  if (kind >= kProfiles.size()) {
    return random_trace(lock_options(seed), seed);
  }
  RandomTraceOptions options = random_options(kProfiles[kind], seed);
  options.events = 6 + options.events % 20;
  options.threads = std::min(options.threads, 4u);
  return random_trace(options, seed);
}

void print(const char* what, const Tally& tally) {
  std::cout << what << ": " << tally.witnesses << " witnesses (closure " << tally.by[1][0] << ", search "
            << tally.by[1][2] << "), " << tally.infeasible << " infeasible (saturation " << tally.by[0][1]
            << ", search " << tally.by[0][2] << "), " << tally.states << " states searched\n";
}

class SearchProperty : public testing::TestWithParam<SearchStages> {};

TEST_P(SearchProperty, AnswersAreThoseOfTheExplorer) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const auto wrong = [](std::span<const Event> t, Tallies& counts) { return disagreement(t, GetParam(), counts); };
  Tallies tallies;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomTrace trace = tiny_trace(seed);
    if (wrong(trace.events, tallies).empty()) {
      continue;
    }
    Tallies unused;
    const std::vector<Event> small =
        minimise(trace.events, [&](std::span<const Event> t) { return !wrong(t, unused).empty(); });
    FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0:\n"
           << print_trace(small) << wrong(small, unused);
  }
  std::cout << cases << " traces, " << tallies.skipped << " too large for the explorer\n";
  print("races", tallies.races);
  print("deadlocks", tallies.deadlocks);
  if (cases >= 10'000) {  // every stage that is on must settle some question, or nothing was compared
    EXPECT_LT(tallies.skipped * 20, cases);
    EXPECT_EQ(tallies.races.by[1][0] > cases / 10, GetParam().closure);
    EXPECT_GT(tallies.races.by[1][2], 0u);
    EXPECT_GT(tallies.races.by[0][1], cases / 10);
    if (!GetParam().inference) {  // with it, saturation refutes all that is infeasible at this size
      EXPECT_GT(tallies.races.by[0][2], 0u);
    }
    EXPECT_EQ(tallies.deadlocks.by[1][0] > 0, GetParam().closure);
    EXPECT_GT(tallies.deadlocks.by[1][2], 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, SearchProperty,
                         testing::Values(SearchStages{true, true}, SearchStages{true, false}, SearchStages{false, true},
                                         SearchStages{false, false}),
                         [](const auto& test) {
                           return std::string(test.param.closure ? "Closure" : "") +
                                  (test.param.inference ? "Inference" : "") + "Search";
                         });

namespace fs = std::filesystem;

TextTrace read_golden(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return parse_trace(text.str());
}

TEST(SearchGolden, AllGoldenTracesHaveTheAnswersOfTheExplorer) {
  int traces = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(SOOTH_SOURCE_DIR) / "tests" / "golden")) {
    if (entry.path().extension() == ".std") {
      Tallies tallies;
      EXPECT_EQ(disagreement(read_golden(entry.path()).events, {}, tallies), "") << entry.path();
      EXPECT_EQ(tallies.skipped, 0u) << entry.path();
      ++traces;
    }
  }
  EXPECT_GT(traces, 50);
}

// Figures of the WCP paper, by the labels of their lines.
class Figure {
 public:
  explicit Figure(const std::string& name)
      : trace_(read_golden(fs::path(SOOTH_SOURCE_DIR) / "tests" / "golden" / ("wcp_figure_" + name + ".std"))),
        index_(TraceView{trace_.events, {}, {}}) {}

  // The order of a witness, "infeasible" or "unknown"; then what settled it.
  std::string race(const std::string& a, const std::string& b) const {
    Effort effort;
    const Prediction prediction = find_race(index_, {at(a), at(b)}, Budget{}, &effort);
    return describe(prediction, effort);
  }
  std::string deadlock(std::initializer_list<std::string> labels) const {
    std::vector<EventId> acquires;
    for (const std::string& label : labels) {
      acquires.push_back(at(label));
    }
    Effort effort;
    const Prediction prediction = find_deadlock(index_, acquires, Budget{}, &effort);
    return describe(prediction, effort);
  }

 private:
  EventId at(const std::string& label) const {
    for (Index e = 0; e < trace_.events.size(); ++e) {
      if (trace_.labels[raw(trace_.events[e].site)] == label) {
        return EventId{e};
      }
    }
    ADD_FAILURE() << "no line " << label;
    return EventId{0};
  }
  std::string describe(const Prediction& prediction, const Effort& effort) const {
    constexpr const char* kBy[] = {"closure", "saturation", "search"};
    const std::string by = std::string(" by ") + kBy[static_cast<int>(effort.decided_by)];
    const Witness* witness = std::get_if<Witness>(&prediction);
    if (witness == nullptr) {
      return (std::holds_alternative<Infeasible>(prediction) ? "infeasible" : "unknown") + by;
    }
    EXPECT_EQ(why_no_witness({trace_.events, {}, {}}, *witness), "");
    std::string text;
    for (const EventId e : witness->order) {
      text += trace_.labels[raw(trace_.events[raw(e)].site)] + " ";
    }
    text += "|";
    for (const EventId e : witness->next) {
      text += " " + trace_.labels[raw(trace_.events[raw(e)].site)];
    }
    return text + by;
  }

  TextTrace trace_;
  TraceIndex index_;
};

TEST(SearchGolden, FiguresOfTheWcpPaper) {
  EXPECT_EQ(Figure("1a").race("3", "6"), "infeasible by saturation");
  EXPECT_EQ(Figure("1b").race("1", "8"), "5 6 7 | 1 8 by closure");
  EXPECT_EQ(Figure("2a").race("1", "7"), "infeasible by saturation");
  EXPECT_EQ(Figure("2b").race("1", "6"), "5 | 1 6 by closure");
  EXPECT_NE(Figure("3").race("3", "12").find("| 3 12 by closure"), std::string::npos) << Figure("3").race("3", "12");
  EXPECT_NE(Figure("4").race("4", "15").find("| 4 15 by search"), std::string::npos) << Figure("4").race("4", "15");
  EXPECT_EQ(Figure("5").race("4", "14").substr(0, 10), "infeasible") << Figure("5").race("4", "14");
  EXPECT_EQ(Figure("5").deadlock({"2", "7", "11"}), "1 6 10 | 2 7 11 by closure");
  EXPECT_EQ(Figure("5").deadlock({"2", "11", "7"}), "1 6 10 | 2 7 11 by closure");
  EXPECT_EQ(Figure("5").deadlock({"2", "7"}), "infeasible by saturation");
}

}  // namespace
}  // namespace sooth::oracle
