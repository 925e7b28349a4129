#include "smt/order_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace sooth {
namespace {

using OrderLiteral = OrderSolver::Literal;
using Answer = OrderSolver::Answer;
constexpr std::chrono::milliseconds kPatience{60'000};

TEST(OrderSolverTest, OrdersWhatIsRequired) {
  OrderSolver solver(kPatience);
  const OrderSolver::Node a = solver.add_node(), b = solver.add_node(), c = solver.add_node();
  solver.require({OrderLiteral::before(a, b)});
  solver.require({OrderLiteral::before(c, a), OrderLiteral::before(b, a)});
  ASSERT_EQ(solver.solve(), Answer::kYes);
  EXPECT_LT(solver.position(c), solver.position(a));
  EXPECT_LT(solver.position(a), solver.position(b));
}

TEST(OrderSolverTest, RefutesCycles) {
  OrderSolver solver(kPatience);
  const OrderSolver::Node a = solver.add_node(), b = solver.add_node(), c = solver.add_node();
  solver.require({OrderLiteral::before(a, b)});
  solver.require({OrderLiteral::before(b, c)});
  solver.require({OrderLiteral::before(c, a), OrderLiteral::before(b, a)});
  EXPECT_EQ(solver.solve(), Answer::kNo);
}

TEST(OrderSolverTest, AnEmptyClauseNeverHolds) {
  OrderSolver solver(kPatience);
  solver.add_node();
  solver.require(std::span<const OrderLiteral>{});
  EXPECT_EQ(solver.solve(), Answer::kNo);
}

TEST(OrderSolverTest, FlagsTieClausesTogether) {
  OrderSolver solver(kPatience);
  const OrderSolver::Node a = solver.add_node(), b = solver.add_node();
  const OrderSolver::Flag flag = solver.add_flag();
  solver.require({OrderLiteral::is(flag), OrderLiteral::before(b, a)});
  solver.require({OrderLiteral::is_not(flag), OrderLiteral::before(b, a)});
  ASSERT_EQ(solver.solve(), Answer::kYes);
  EXPECT_LT(solver.position(b), solver.position(a));
}

// All permutations of five nodes against random clauses.
TEST(OrderSolverTest, AnswersAreThoseOfTryingAllOrders) {
  std::mt19937 random(1);
  int yes = 0, no = 0;
  for (int round = 0; round < 300; ++round) {
    OrderSolver solver(kPatience);
    std::vector<OrderSolver::Node> nodes;
    for (int i = 0; i < 5; ++i) {
      nodes.push_back(solver.add_node());
    }
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> clauses(6 + random() % 12);
    for (auto& clause : clauses) {
      std::vector<OrderLiteral> literals;
      for (std::size_t i = 0; i < 1 + random() % 2; ++i) {
        const std::size_t from = random() % 5, to = (from + 1 + random() % 4) % 5;
        clause.emplace_back(from, to);
        literals.push_back(OrderLiteral::before(nodes[from], nodes[to]));
      }
      solver.require(literals);
    }
    std::vector<int> place(5);
    std::iota(place.begin(), place.end(), 0);
    bool possible = false;
    do {
      possible = possible || std::all_of(clauses.begin(), clauses.end(), [&](const auto& clause) {
                   return std::any_of(clause.begin(), clause.end(),
                                      [&](const auto& edge) { return place[edge.first] < place[edge.second]; });
                 });
    } while (std::next_permutation(place.begin(), place.end()));
    ASSERT_EQ(solver.solve(), possible ? Answer::kYes : Answer::kNo) << "round " << round;
    ++(possible ? yes : no);
  }
  EXPECT_GT(yes, 50);
  EXPECT_GT(no, 50);
}

// As many pigeons as fit, and one more: resolution needs exponentially many steps. Running out of time is never a "no".
TEST(OrderSolverTest, AnswersUnknownWhenTimeRunsOut) {
  OrderSolver solver(std::chrono::milliseconds(20));
  constexpr int kHoles = 12;
  std::vector<std::vector<OrderSolver::Flag>> in(kHoles + 1);
  for (auto& pigeon : in) {
    std::vector<OrderLiteral> somewhere;
    for (int hole = 0; hole < kHoles; ++hole) {
      pigeon.push_back(solver.add_flag());
      somewhere.push_back(OrderLiteral::is(pigeon.back()));
    }
    solver.require(somewhere);
  }
  for (int hole = 0; hole < kHoles; ++hole) {
    for (int a = 0; a <= kHoles; ++a) {
      for (int b = 0; b < a; ++b) {
        solver.require({OrderLiteral::is_not(in[a][hole]), OrderLiteral::is_not(in[b][hole])});
      }
    }
  }
  EXPECT_EQ(solver.solve(), Answer::kUnknown);
  EXPECT_NE(solver.why(), "");
}

}  // namespace
}  // namespace sooth
