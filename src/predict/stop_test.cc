// That long work looks at the clock all the time: a clock of ours runs out at the first, second, third ... look, and no
// stage may look at it much longer, nor take for a "no" what it has not finished.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "predict/closure.h"
#include "predict/conflicts.h"
#include "predict/mcm.h"
#include "predict/race_candidates.h"
#include "predict/saturation.h"
#include "predict/search.h"
#include "smt/order_solver.h"

namespace sooth {
namespace {

// Runs out at a given look.
class FakeClock {
 public:
  explicit FakeClock(std::uint64_t looks) : looks_(looks) {}

  std::function<bool()> out_of_time() {
    return [this] { return ++asked_ > looks_; };
  }
  std::uint64_t asked() const { return asked_; }
  bool ran_out() const { return asked_ > looks_; }
  std::uint64_t asked_too_late() const { return ran_out() ? asked_ - looks_ : 0; }

 private:
  std::uint64_t looks_, asked_ = 0;
};
constexpr std::uint64_t kForEver = ~std::uint64_t{0};
// Each stage of a question, and each of its loops, may look once more.
constexpr std::uint64_t kMayLookOnceMore = 8;

// Threads that hand a lock around and read what the one before has written; then two of them do something that a second
// lock keeps apart. Everything is needed for it.
std::string relay(int threads, int rounds) {
  std::string text;
  const auto add = [&](int thread, const std::string& what) {
    text += "T" + std::to_string(thread) + "|" + what + "|" + std::to_string(thread) + " ";
  };
  for (int round = 0; round < rounds; ++round) {
    for (int t = 0; t < threads; ++t) {
      add(t, "acq(l)");
      add(t, "r(x)");
      add(t, "w(x)");
      add(t, "rel(l)");
      add(t, "w(own" + std::to_string(t) + ")");
    }
  }
  for (const int t : {0, 1}) {
    add(t, "acq(m)");
    add(t, "r(x)");
    add(t, "w(goal)");
    add(t, "rel(m)");
  }
  return text;
}

class StopTest : public testing::Test {
 protected:
  StopTest() : trace_(oracle::parse_trace(relay(8, 600))), index_(TraceView{trace_.events, {}, {}}) {}

  Candidate goal() const { return {EventId{trace_.events.size() - 6}, EventId{trace_.events.size() - 2}}; }

  // `ask(clock)` returns whether it has an answer. Looks out of every moment of the work.
  template <typename Ask>
  void check(const char* what, std::uint64_t at_least, Ask&& ask, std::uint64_t late = kMayLookOnceMore) {
    FakeClock patient(kForEver);
    ASSERT_TRUE(ask(patient)) << what;
    EXPECT_GE(patient.asked(), at_least) << what << " hardly looks at the clock";
    const std::uint64_t step = std::max<std::uint64_t>(1, patient.asked() / 40);
    for (std::uint64_t looks = 0; looks < patient.asked(); looks += step) {
      FakeClock clock(looks);
      const bool answered = ask(clock);
      // A solver is watched by real time: the patient question may have looked more often.
      EXPECT_FALSE(answered && clock.ran_out()) << what << " has an answer after " << looks << " looks";
      EXPECT_LE(clock.asked_too_late(), late) << what << " after " << looks << " looks";
    }
  }

  const oracle::TextTrace trace_;
  const TraceIndex index_;
};

TEST_F(StopTest, TheClosure) {
  const EventIndex targets[] = {static_cast<EventIndex>(raw(goal().first)),
                                static_cast<EventIndex>(raw(goal().second))};
  const Window window(index_);
  check("the closure", 5, [&](FakeClock& clock) {
    const std::function<bool()> out_of_time = clock.out_of_time();
    StopPoll poll(out_of_time);
    const bool found = sync_preserving_closure(index_, window, targets, &poll).has_value();
    EXPECT_FALSE(found);  // a lock keeps them apart
    return !poll.stopped();
  });
}

TEST_F(StopTest, Saturation) {
  const EventIndex targets[] = {static_cast<EventIndex>(raw(goal().first)), static_cast<EventIndex>(100)};
  const Window window(index_);
  check("saturation", 5, [&](FakeClock& clock) {
    const std::function<bool()> out_of_time = clock.out_of_time();
    StopPoll poll(out_of_time);
    (void)saturate(index_, window, targets, {.poll = &poll});
    return !poll.stopped();
  });
}

TEST_F(StopTest, ASearchForARace) {
  for (const SearchStages& stages : {SearchStages{}, SearchStages{.closure = false, .inference = false}}) {
    check("find_race", 5, [&](FakeClock& clock) {
      const Prediction answer =
          find_race(index_, goal(), {.states = 1'000, .out_of_time = clock.out_of_time()}, nullptr, stages);
      EXPECT_FALSE(std::holds_alternative<Witness>(answer));
      return std::holds_alternative<Infeasible>(answer);
    });
  }
}

TEST_F(StopTest, MaximalCausalityWithAndWithoutTheSolver) {
  for (const bool solver : {false, true}) {
    check("predict_race", 5, [&](FakeClock& clock) {
      McmOptions options;
      options.stages = {.closure = !solver, .saturation = !solver, .search = !solver, .solver = solver};
      options.out_of_time = clock.out_of_time();
      options.solver_timeout = std::chrono::minutes(10);
      const Window window(index_, static_cast<EventIndex>(index_.size() - (solver ? 300 : index_.size())),
                          static_cast<EventIndex>(index_.size()));
      return std::holds_alternative<Infeasible>(predict_race(index_, goal(), options, &window));
    });
  }
}

TEST_F(StopTest, AllPairsOfATrace) {
  const std::uint64_t pairs = find_mcm_races(index_, {}).pairs.size();
  const auto ask = [&](FakeClock& clock) {
    McmOptions options;
    options.out_of_time = clock.out_of_time();
    const McmResult result = find_mcm_races(index_, options);
    const bool some_open = std::any_of(result.pairs.begin(), result.pairs.end(), [](const McmSitePair& pair) {
      return pair.answer == McmSitePair::Answer::kUnknown;
    });
    EXPECT_TRUE(!clock.ran_out() || some_open || !result.why_not_all.empty());
    return !some_open && result.why_not_all.empty();
  };
  check("find_mcm_races", 10, ask, kMayLookOnceMore + pairs);  // each says that it has no answer
}

TEST_F(StopTest, ASolverThatIsBusy) {
  // Pigeons: ten in nine holes. It takes z3 far longer than anybody waits here.
  std::atomic<int> asked = 0;
  OrderSolver solver({std::chrono::minutes(10), [&] { return ++asked > 5; }});
  OrderSolver::Flag in[11][10];
  for (auto& pigeon : in) {
    std::vector<OrderSolver::Literal> somewhere;
    for (OrderSolver::Flag& hole : pigeon) {
      hole = solver.add_flag();
      somewhere.push_back(OrderSolver::Literal::is(hole));
    }
    solver.require(somewhere);
  }
  for (int hole = 0; hole < 10; ++hole) {
    for (int a = 0; a < 11; ++a) {
      for (int b = 0; b < a; ++b) {
        solver.require({OrderSolver::Literal::is_not(in[a][hole]), OrderSolver::Literal::is_not(in[b][hole])});
      }
    }
  }
  EXPECT_EQ(solver.solve(), OrderSolver::Answer::kUnknown);
}

// Against the definition, on random traces with ranges of odd sizes that are allocated again.
TEST(ConflictsTest, AreThoseOfTheDefinition) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const oracle::RandomTrace trace = oracle::random_trace(oracle::Profile::kMemory, seed);
    const TraceIndex index(TraceView{trace.events, {}, {}});
    Conflicts conflicts(index);
    StopPoll poll;
    for (EventIndex a = 0; a < index.size(); ++a) {
      conflicts.choose(a);
      for (EventIndex b = 0; b < index.size(); ++b) {
        const std::span<const VariableIndex> mine = index.variables(a);
        const std::set<VariableIndex> theirs(index.variables(b).begin(), index.variables(b).end());
        const Event &x = index.event(a), &y = index.event(b);
        const bool expected =
            x.thread != y.thread && (is_write(x.op) || is_write(y.op)) && !(is_atomic(x.op) && is_atomic(y.op)) &&
            std::any_of(mine.begin(), mine.end(), [&](VariableIndex v) { return theirs.contains(v); });
        ASSERT_EQ(conflicts.conflicts_with(b, poll), expected) << "seed " << seed << ", events " << a << " and " << b;
        found += expected ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, 100u);
}

}  // namespace
}  // namespace sooth
