// All of recipe but the tools: tiny programs are recorded, executed symbolically, asked about, and every witness is
// judged.
#include "recipe/recipe.h"

#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>
#include <unordered_set>

#include "base/test_environment.h"
#include "oracle/random.h"
#include "predict/mcm.h"
#include "recipe/judge/check.h"
#include "recipe/judge/mini_program.h"
#include "recipe/judge/mini_random.h"
#include "recipe/witness/initial_memory.h"

namespace sooth {
namespace {

// Accesses as places of the program: thread, which is its function, and instruction.
using Place = std::pair<std::uint32_t, std::uint32_t>;
using Races = std::set<std::pair<Place, Place>>;

std::pair<Place, Place> in_order(Place a, Place b) { return std::minmax(a, b); }

class Analysis {
 public:
  Analysis(mini::Program source, const std::function<std::size_t(std::size_t)>& choose)
      : source_(std::move(source)),
        text_(source_.finish()),
        program_(DeepProgram::parse(std::span(&text_, 1))),
        recording_(mini::record(source_, choose)),
        index_(without_bound_reads(recording_.view(), nobody_), {}, KeptOrder::kButAtomics) {
    EXPECT_TRUE(program_.ok()) << program_.status().message();
    Result<SymbolicProgram> symbolic =
        execute_symbolically(*program_, index_, recording_.view(), recording_.trace.deep, {});
    EXPECT_TRUE(symbolic.ok()) << symbolic.status().message();
    symbolic_ = std::move(*symbolic);
    model_.emplace(index_, recording_.view(), symbolic_, InitialMemory(*program_));
    place_events();
  }

  const mini::Program& source() const { return source_; }

  // What all pairs of accesses tell, with every witness judged; "" or what is wrong.
  std::string find(bool detours, Races& races) {
    std::vector<RaceTarget> targets;
    for (EventIndex e = 0; e < index_.size(); ++e) {
      if (is_access(index_.event(e).op)) {
        targets.push_back(RaceTarget::at(index_, e));
      }
    }
    for (const SymbolicThread& thread : symbolic_.threads) {
      for (std::uint32_t d = 0; detours && d < thread.detours.size(); ++d) {
        for (std::uint32_t s = 0; s < thread.detours[d].steps.size(); ++s) {
          if (is_access(thread.detours[d].steps[s].op)) {
            targets.push_back(RaceTarget::at(thread, d, s));
          }
        }
      }
    }
    ExprTable table = symbolic_.expressions;
    for (const RaceTarget& a : targets) {
      for (const RaceTarget& b : targets) {
        const RaceTarget both[2] = {a, b};
        if (a.thread >= b.thread || !conflict(both)) {
          continue;
        }
        const ValuePrediction prediction = predict_value_race(*model_, table, both, {});
        const ValueWitness* witness = std::get_if<ValueWitness>(&prediction);
        if (witness == nullptr) {
          continue;
        }
        const Status judged = check_value_witness(*program_, recording_.view(), recording_.trace.deep, *witness);
        const std::optional<std::string> wrong = mini::refute(source_, recording_, *witness);
        if (!judged.ok() || wrong) {
          return judged.message() + " / " + wrong.value_or("right");
        }
        races.insert(in_order(place(a), place(b)));
      }
    }
    return "";
  }

  // What reorderings with recorded values reach.
  Races recorded() const {
    Races races;
    const TraceIndex index(recording_.view(), {}, KeptOrder::kButAtomics);
    for (EventIndex b = 0; b < index.size(); ++b) {
      for (EventIndex a = 0; a < b; ++a) {
        const RaceTarget both[2] = {RaceTarget::at(index, a), RaceTarget::at(index, b)};
        if (is_access(index.event(a).op) && is_access(index.event(b).op) && index.thread(a) != index.thread(b) &&
            conflict(both) && std::holds_alternative<Witness>(predict_race(index, {EventId{a}, EventId{b}}, {}))) {
          races.insert(in_order(place(both[0]), place(both[1])));
        }
      }
    }
    return races;
  }

 private:
  // Which instruction an event is of: the accesses and locks of a thread, in its order, as the machine makes them.
  void place_events() {
    mini::Machine machine(source_);
    instructions_.resize(index_.size());
    for (EventIndex e = 0; e < index_.size(); ++e) {
      std::vector<mini::Local> locals;
      instructions_[e] = machine.next(index_.thread(e), locals)->instruction;
      machine.perform(index_.thread(e));
    }
  }

  Place place(const RaceTarget& target) const {
    return {target.thread,
            target.is_event()
                ? instructions_[target.event]
                : symbolic_.threads[target.thread].detours[target.detour].steps[target.step].at.instruction};
  }

  bool conflict(const RaceTarget (&targets)[2]) const {
    bool writes = false;
    std::uint64_t objects[2];
    for (const int i : {0, 1}) {
      const RaceTarget& t = targets[i];
      const Op op =
          t.is_event() ? index_.event(t.event).op : symbolic_.threads[t.thread].detours[t.detour].steps[t.step].op;
      objects[i] = t.is_event() ? index_.event(t.event).object
                                : symbolic_.threads[t.thread].detours[t.detour].steps[t.step].object;
      writes = writes || is_write(op);
    }
    return writes && objects[0] == objects[1];
  }

  mini::Program source_;
  const DeepModuleText text_;
  const Result<DeepProgram> program_;
  const mini::Recording recording_;
  Branch nobody_;
  const TraceIndex index_;
  SymbolicProgram symbolic_;
  std::optional<RecipeModel> model_;
  std::vector<std::uint32_t> instructions_;  // by event
};

// Every race of every schedule.
class AllSchedules {
 public:
  explicit AllSchedules(const mini::Program& program) : threads_(program.threads.size()) {
    visit(mini::Machine(program), 0);
  }

  const Races& races() const { return races_; }
  bool complete() const { return complete_; }

 private:
  void visit(const mini::Machine& before, int depth) {
    if (++states_ > 30'000 || depth > 60) {
      complete_ = false;
      return;
    }
    mini::Machine machine = before;
    std::vector<std::optional<mini::Action>> next;
    for (std::uint32_t t = 0; t < threads_; ++t) {
      std::vector<mini::Local> locals;
      next.push_back(machine.next(t, locals));
    }
    for (std::uint32_t a = 0; a < threads_; ++a) {
      for (std::uint32_t b = a + 1; b < threads_; ++b) {
        if (next[a] && next[b] && is_access(next[a]->op) && is_access(next[b]->op) &&
            next[a]->object == next[b]->object && (is_write(next[a]->op) || is_write(next[b]->op))) {
          races_.insert(in_order({a, next[a]->instruction}, {b, next[b]->instruction}));
        }
      }
    }
    for (std::uint32_t t = 0; t < threads_ && complete_; ++t) {
      if (next[t] && machine.is_enabled(t)) {
        mini::Machine then = machine;
        then.perform(t);
        visit(then, depth + 1);
      }
    }
  }

  const std::size_t threads_;
  Races races_;
  std::uint64_t states_ = 0;
  bool complete_ = true;
};

std::function<std::size_t(std::size_t)> first_come() {
  return [](std::size_t) { return std::size_t{0}; };
}

// Figure 1: x is variable 0, y variable 1. The first thread comes first.
TEST(RecipeTest, FindsTheRacesOfFigure1) {
  mini::Program program;
  program.initial = {0, 0};
  program.threads = {
      {mini::store(1, 3), mini::store(0, 1), mini::store(1, 5)},
      {mini::load(0, 1), mini::branch(0, 2, {mini::load(1, 0), mini::print(1)}, {mini::load(2, 0), mini::print(2)})}};
  Analysis analysis(program, first_come());
  const std::vector<mini::Statement>& first = analysis.source().threads[0];
  const std::vector<mini::Statement>& second = analysis.source().threads[1];
  const auto pair = [](const mini::Statement& a, const mini::Statement& b) {
    return in_order({0, a.instruction}, {1, b.instruction});
  };
  const auto race_2_5 = pair(first[1], second[1].then[0]);
  const auto race_2_7 = pair(first[1], second[1].otherwise[0]);
  const auto race_1_4 = pair(first[0], second[0]), race_3_4 = pair(first[2], second[0]);
  EXPECT_EQ(analysis.recorded(), (Races{race_1_4, race_3_4}));
  Races without, with;
  EXPECT_EQ(analysis.find(false, without), "");
  EXPECT_EQ(without, (Races{race_1_4, race_3_4, race_2_5}));
  EXPECT_EQ(analysis.find(true, with), "");
  EXPECT_EQ(with, (Races{race_1_4, race_3_4, race_2_5, race_2_7}));
}

// Nothing but races of the program is found, and all that reorderings with recorded values reach. A schedule may lead
// where one run tells nothing of, so not all of them.
TEST(RecipeTest, FindsNothingThatNoScheduleReaches) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 300);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t all = 0, recorded = 0, without_detours = 0, with_detours = 0, skipped = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    oracle::Random random(seed);
    mini::Generator<oracle::Random> generator(random);
    Analysis analysis(generator.program(), [&](std::size_t count) { return random.below(count); });
    const AllSchedules truth(analysis.source());
    if (!truth.complete()) {
      ++skipped;
      continue;
    }
    Races without, with;
    ASSERT_EQ(analysis.find(false, without), "") << "SOOTH_SEED=" << seed;
    ASSERT_EQ(analysis.find(true, with), "") << "SOOTH_SEED=" << seed;
    const Races plain = analysis.recorded();
    const auto contains = [](const Races& more, const Races& less) {
      return std::includes(more.begin(), more.end(), less.begin(), less.end());
    };
    ASSERT_TRUE(contains(truth.races(), with)) << "SOOTH_SEED=" << seed;
    ASSERT_TRUE(contains(with, without)) << "SOOTH_SEED=" << seed;
    ASSERT_TRUE(contains(without, plain)) << "SOOTH_SEED=" << seed;
    all += truth.races().size();
    recorded += plain.size();
    without_detours += without.size();
    with_detours += with.size();
  }
  std::cout << cases << " programs, " << skipped << " with too many schedules; races " << all
            << ": with recorded values " << recorded << ", recipe:s " << without_detours << ", recipe " << with_detours
            << "\n";
  if (cases >= 100) {
    EXPECT_LT(skipped, cases / 2);
    EXPECT_GT(without_detours, recorded);
    EXPECT_GT(with_detours, without_detours);
  }
}

}  // namespace
}  // namespace sooth
