// Finds an order of things and values for variables that together satisfy clauses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "smt/expr.h"
#include "smt/order_solver.h"
#include "smt/solver_limit.h"

namespace sooth {

// As OrderSolver, with literals about values besides: variables of an ExprTable are bit-vectors, with the operators
// that the table defines. A solver answers one question. Not thread safe; different solvers may be used in different
// threads, also over one table that nobody changes meanwhile.
class ValueSolver {
 public:
  using Node = OrderSolver::Node;
  using Flag = OrderSolver::Flag;
  using Answer = OrderSolver::Answer;

  // One alternative of a clause.
  class Literal {
   public:
    static Literal before(Node a, Node b) {
      return {Kind::kBefore, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
    }
    static Literal is(Flag flag) { return {Kind::kIs, static_cast<std::uint32_t>(flag), 0}; }
    static Literal is_not(Flag flag) { return {Kind::kIsNot, static_cast<std::uint32_t>(flag), 0}; }
    // An expression of width 1 is 1.
    static Literal holds(ExprId condition) { return {Kind::kHolds, static_cast<std::uint32_t>(condition), 0}; }

   private:
    friend class ValueSolver;
    enum class Kind : std::uint8_t { kBefore, kIs, kIsNot, kHolds };
    Literal(Kind kind, std::uint32_t a, std::uint32_t b) : kind_(kind), a_(a), b_(b) {}
    Kind kind_;
    std::uint32_t a_, b_;
  };

  // The table must outlive it; it may grow until solve().
  ValueSolver(const ExprTable& table, const SolverLimit& limit);
  ~ValueSolver();
  ValueSolver(const ValueSolver&) = delete;
  ValueSolver& operator=(const ValueSolver&) = delete;

  Node add_node();
  Flag add_flag();  // true or false, as the clauses demand

  // One of the literals is to hold; none of an empty clause ever does.
  void require(std::span<const Literal> clause);
  void require(std::initializer_list<Literal> clause) { require(std::span(clause.begin(), clause.size())); }
  std::uint64_t clauses() const { return clauses_; }

  // Whether all clauses hold with these positions, by node, and values, by variable of the table. If so, it is as if
  // solve() had answered kYes with them. Costs as much as reading the clauses and the table once; not to be called
  // behind solve().
  bool accepts(std::span<const std::int64_t> positions, std::span<const std::uint64_t> values);
  Answer solve();
  // After kYes: where a node stands. Only comparisons mean anything; nodes that no clause compares may be equal.
  std::int64_t position(Node node) const;
  bool is_true(Flag flag) const;
  // ... and the value of a variable of the table, by its number. Variables that no clause mentions are 0.
  std::uint64_t value(std::uint32_t variable) const;
  // After kUnknown.
  const std::string& why() const { return why_; }

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
  std::uint64_t clauses_ = 0;
  std::string why_;
};

}  // namespace sooth
