// Finds an order of things that satisfies clauses of "a comes before b".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "smt/solver_limit.h"

namespace sooth {

// Wraps z3: nodes are integers, "before" is "less than". A solver answers one question: what it answers must not depend
// on what was asked before. Not thread safe; different solvers may be used in different threads.
class OrderSolver {
 public:
  enum class Node : std::uint32_t {};
  enum class Flag : std::uint32_t {};

  // One alternative of a clause.
  class Literal {
   public:
    static Literal before(Node a, Node b) {
      return {Kind::kBefore, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
    }
    static Literal is(Flag flag) { return {Kind::kIs, static_cast<std::uint32_t>(flag), 0}; }
    static Literal is_not(Flag flag) { return {Kind::kIsNot, static_cast<std::uint32_t>(flag), 0}; }

   private:
    friend class OrderSolver;
    enum class Kind : std::uint8_t { kBefore, kIs, kIsNot };
    Literal(Kind kind, std::uint32_t a, std::uint32_t b) : kind_(kind), a_(a), b_(b) {}
    Kind kind_;
    std::uint32_t a_, b_;
  };

  explicit OrderSolver(const SolverLimit& limit);
  ~OrderSolver();
  OrderSolver(const OrderSolver&) = delete;
  OrderSolver& operator=(const OrderSolver&) = delete;

  Node add_node();
  Flag add_flag();  // true or false, as the clauses demand

  // One of the literals is to hold; none of an empty clause ever does.
  void require(std::span<const Literal> clause);
  void require(std::initializer_list<Literal> clause) { require(std::span(clause.begin(), clause.size())); }
  std::uint64_t clauses() const { return clauses_; }

  enum class Answer : std::uint8_t {
    kYes,
    kNo,       // no order satisfies all clauses: a proof
    kUnknown,  // out of time or memory
  };
  Answer solve();
  // After kYes: where a node stands. Only comparisons mean anything; nodes that no clause compares may be equal.
  std::int64_t position(Node node) const;
  // After kUnknown.
  const std::string& why() const { return why_; }

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
  std::uint64_t clauses_ = 0;
  std::string why_;
};

}  // namespace sooth
