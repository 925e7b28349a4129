#include "smt/value_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace sooth {
namespace {

using Literal = ValueSolver::Literal;
using Answer = ValueSolver::Answer;
constexpr std::chrono::milliseconds kLong{60'000};

// Figure 1 of RECIPE: which write the read at line 4 sees decides whether y > 2, and in which order that is.
TEST(ValueSolverTest, OrdersAndValuesDependOnEachOther) {
  for (const bool taken : {true, false}) {
    ExprTable table;
    const ExprId y = table.variable(32);
    const ExprId more = table.make(ExprOp::kSlt, table.constant(32, 2), y);
    ValueSolver solver(table, kLong);
    const auto first = solver.add_node(), read = solver.add_node();
    const auto sees_initial = solver.add_flag(), sees_first = solver.add_flag();
    solver.require({Literal::is(sees_initial), Literal::is(sees_first)});
    solver.require({Literal::is_not(sees_initial), Literal::before(read, first)});
    solver.require({Literal::is_not(sees_initial), Literal::holds(table.make(ExprOp::kEq, y, table.constant(32, 0)))});
    solver.require({Literal::is_not(sees_first), Literal::before(first, read)});
    solver.require({Literal::is_not(sees_first), Literal::holds(table.make(ExprOp::kEq, y, table.constant(32, 3)))});
    solver.require({Literal::holds(taken ? more : table.make(ExprOp::kNot, more))});
    ASSERT_EQ(solver.solve(), Answer::kYes);
    EXPECT_EQ(solver.position(first) < solver.position(read), taken);
    EXPECT_EQ(solver.value(table.variable_number(y)), taken ? 3u : 0u);
    EXPECT_EQ(solver.is_true(sees_first), taken);
  }
}

TEST(ValueSolverTest, RefutesCyclesAndContradictions) {
  ExprTable table;
  ValueSolver cycle(table, kLong);
  const auto a = cycle.add_node(), b = cycle.add_node();
  cycle.require({Literal::before(a, b)});
  cycle.require({Literal::before(b, a), Literal::holds(table.no())});
  EXPECT_EQ(cycle.solve(), Answer::kNo);

  const ExprId x = table.variable(8);
  ValueSolver contradiction(table, kLong);
  contradiction.require({Literal::holds(table.make(ExprOp::kUlt, x, table.constant(8, 3)))});
  contradiction.require(
      {Literal::holds(table.make(ExprOp::kUlt, table.constant(8, 7), table.make(ExprOp::kMul, x, x)))});
  EXPECT_EQ(contradiction.solve(), Answer::kNo);

  ValueSolver empty(table, kLong);
  empty.require(std::span<const Literal>{});
  EXPECT_EQ(empty.solve(), Answer::kNo);
}

class RandomExpressions {
 public:
  RandomExpressions(ExprTable& table, std::mt19937& random, std::vector<ExprId> variables)
      : table_(table), random_(random), variables_(std::move(variables)) {}

  // Of the width of the variables.
  ExprId value(int depth) {
    const unsigned width = table_.width(variables_.front());
    const auto choice = static_cast<unsigned>(random_() % 24);
    if (depth == 0 || choice < 3) {
      return choice % 2 == 0 ? variables_[random_() % variables_.size()] : table_.constant(width, random_());
    }
    const ExprId a = value(depth - 1), b = value(depth - 1);
    constexpr ExprOp kBinary[] = {ExprOp::kAdd,  ExprOp::kSub,  ExprOp::kMul, ExprOp::kUDiv, ExprOp::kSDiv,
                                  ExprOp::kURem, ExprOp::kSRem, ExprOp::kAnd, ExprOp::kOr,   ExprOp::kXor,
                                  ExprOp::kShl,  ExprOp::kLShr, ExprOp::kAShr};
    if (choice < 3 + std::size(kBinary)) {
      return table_.make(kBinary[choice - 3], a, b);
    }
    switch (choice) {
      case 16: return table_.make(ExprOp::kNot, a);
      case 17: return table_.make(ExprOp::kNeg, a);
      case 18: return table_.make(ExprOp::kIte, condition(depth - 1), a, b);
      case 19: return table_.zext(table_.extract(a, 1, 2), width);
      case 20: return table_.sext(table_.extract(a, 0, 2), width);
      case 21: return table_.make(ExprOp::kConcat, table_.extract(a, 1, 1), table_.extract(b, 0, width - 1));
      case 22: return table_.zext(condition(depth - 1), width);
      default: return table_.sext(condition(depth - 1), width);
    }
  }
  ExprId condition(int depth) {
    constexpr ExprOp kCompare[] = {ExprOp::kEq, ExprOp::kUlt, ExprOp::kUle, ExprOp::kSlt, ExprOp::kSle};
    const ExprId a = table_.make(kCompare[random_() % 5], value(depth), value(depth));
    if (depth == 0 || random_() % 3 != 0) {
      return random_() % 2 == 0 ? a : table_.make(ExprOp::kNot, a);
    }
    constexpr ExprOp kJoin[] = {ExprOp::kAnd, ExprOp::kOr, ExprOp::kXor, ExprOp::kEq};
    return table_.make(kJoin[random_() % 4], a, condition(depth - 1));
  }

 private:
  ExprTable& table_;
  std::mt19937& random_;
  const std::vector<ExprId> variables_;
};

// Every operator means in the solver what evaluate() says, division by zero and long shifts included: two variables of
// three bits and an order of three nodes, all of them tried.
TEST(ValueSolverTest, AnswersAreThoseOfTryingEverything) {
  std::mt19937 random(7);
  int yes = 0, no = 0;
  for (int round = 0; round < 400; ++round) {
    ExprTable table;
    const std::vector<ExprId> variables{table.variable(3), table.variable(3)};
    RandomExpressions expressions(table, random, variables);
    struct Clause {
      std::vector<ExprId> conditions;
      std::vector<std::pair<int, int>> edges;
    };
    std::vector<Clause> clauses(4 + random() % 5);
    ValueSolver solver(table, kLong);
    const ValueSolver::Node nodes[] = {solver.add_node(), solver.add_node(), solver.add_node()};
    for (Clause& clause : clauses) {
      std::vector<Literal> literals;
      if (random() % 3 != 0) {
        clause.conditions.push_back(expressions.condition(2));
        literals.push_back(Literal::holds(clause.conditions.back()));
      }
      if (random() % 2 == 0) {
        const int from = static_cast<int>(random() % 3), to = (from + 1 + static_cast<int>(random() % 2)) % 3;
        clause.edges.emplace_back(from, to);
        literals.push_back(Literal::before(nodes[from], nodes[to]));
      }
      solver.require(literals);
    }
    const auto satisfied = [&](std::span<const std::uint64_t> values, std::span<const std::int64_t> places) {
      return std::all_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
        return std::any_of(clause.conditions.begin(), clause.conditions.end(),
                           [&](ExprId e) { return table.evaluate(e, values) == 1; }) ||
               std::any_of(clause.edges.begin(), clause.edges.end(),
                           [&](const auto& edge) { return places[edge.first] < places[edge.second]; });
      });
    };
    bool possible = false;
    for (std::uint64_t both = 0; both < 64; ++both) {
      const std::uint64_t values[] = {both % 8, both / 8};
      std::vector<std::int64_t> places{0, 1, 2};
      do {
        const bool holds = satisfied(values, places);
        ASSERT_EQ(solver.accepts(places, values), holds) << "round " << round;
        possible = possible || holds;
      } while (std::next_permutation(places.begin(), places.end()));
    }
    ASSERT_EQ(solver.solve(), possible ? Answer::kYes : Answer::kNo) << "round " << round;
    ++(possible ? yes : no);
    if (possible) {
      const std::uint64_t values[] = {solver.value(0), solver.value(1)};
      const std::int64_t places[] = {solver.position(nodes[0]), solver.position(nodes[1]), solver.position(nodes[2])};
      EXPECT_TRUE(satisfied(values, places)) << "round " << round;
    }
  }
  EXPECT_GT(yes, 50);
  EXPECT_GT(no, 50);
}

TEST(ValueSolverTest, AcceptsWhatHasFlagsThatFit) {
  ExprTable table;
  const ExprId x = table.variable(8);
  ValueSolver solver(table, std::chrono::seconds(10));
  const ValueSolver::Node a = solver.add_node(), b = solver.add_node();
  const ValueSolver::Flag first = solver.add_flag(), second = solver.add_flag();
  solver.require({Literal::is(first), Literal::is(second)});
  solver.require({Literal::is_not(first), Literal::before(a, b)});
  solver.require({Literal::is_not(second), Literal::holds(table.make(ExprOp::kEq, x, table.constant(8, 3)))});
  const std::int64_t forth[] = {1, 2}, back[] = {2, 1};
  const std::uint64_t three[] = {3}, four[] = {4};
  EXPECT_FALSE(solver.accepts(back, four));
  EXPECT_TRUE(solver.accepts(forth, four));
  EXPECT_TRUE(solver.is_true(first));
  EXPECT_FALSE(solver.is_true(second));
  EXPECT_TRUE(solver.accepts(back, three));
  EXPECT_FALSE(solver.is_true(first));
  EXPECT_TRUE(solver.is_true(second));
  EXPECT_EQ(solver.value(0), 3u);
  EXPECT_LT(solver.position(b), solver.position(a));
  EXPECT_EQ(solver.solve(), Answer::kYes);
}

// A product of two primes: running out of time is never a "no".
TEST(ValueSolverTest, AnswersUnknownWhenTimeRunsOut) {
  ExprTable table;
  const ExprId x = table.variable(64), y = table.variable(64);
  ValueSolver solver(table, std::chrono::milliseconds(20));
  const ExprId bound = table.constant(64, std::uint64_t{1} << 32);
  for (const ExprId factor : {x, y}) {
    solver.require({Literal::holds(table.make(ExprOp::kUlt, factor, bound))});
    solver.require({Literal::holds(table.make(ExprOp::kUlt, table.constant(64, 1), factor))});
  }
  solver.require({Literal::holds(
      table.make(ExprOp::kEq, table.make(ExprOp::kMul, x, y), table.constant(64, 2147483647ull * 4294967291ull)))});
  EXPECT_EQ(solver.solve(), Answer::kUnknown);
  EXPECT_NE(solver.why(), "");
}

}  // namespace
}  // namespace sooth
