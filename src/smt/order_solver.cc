#include "smt/order_solver.h"

#include <algorithm>

#include "smt/lazy_solver.h"

namespace sooth {

class OrderSolver::Impl : public LazySolver<Literal> {
 public:
  explicit Impl(const SolverLimit& limit) : LazySolver(limit, 1) {}

  z3::expr expression(const Literal& literal) {
    switch (literal.kind_) {
      case Literal::Kind::kBefore: return node(literal.a_) < node(literal.b_);
      case Literal::Kind::kIs: return flag(literal.a_);
      case Literal::Kind::kIsNot: return !flag(literal.a_);
    }
    return context().bool_val(false);
  }

  bool holds(const Literal& literal) const {
    switch (literal.kind_) {
      case Literal::Kind::kBefore: return position(literal.a_) < position(literal.b_);
      case Literal::Kind::kIs: return is_true(literal.a_);
      case Literal::Kind::kIsNot: return !is_true(literal.a_);
    }
    return false;
  }
};

OrderSolver::OrderSolver(const SolverLimit& limit) : impl_(std::make_unique<Impl>(limit)) {}
OrderSolver::~OrderSolver() = default;

OrderSolver::Node OrderSolver::add_node() { return Node{impl_->add_node()}; }
OrderSolver::Flag OrderSolver::add_flag() { return Flag{impl_->add_flag()}; }

void OrderSolver::require(std::span<const Literal> clause) {
  impl_->require(clause);
  ++clauses_;
}

// Clauses with alternatives wait: of many, few are ever violated.
OrderSolver::Answer OrderSolver::solve() {
  const z3::check_result result =
      impl_->solve([this](const Literal& literal) { return impl_->expression(literal); },
                   [](std::span<const Literal> clause) { return clause.size() <= 1; },
                   [this](std::span<const Literal> clause) {
                     return std::none_of(clause.begin(), clause.end(),
                                         [this](const Literal& literal) { return impl_->holds(literal); });
                   },
                   why_);
  return result == z3::sat ? Answer::kYes : result == z3::unsat ? Answer::kNo : Answer::kUnknown;
}

std::int64_t OrderSolver::position(Node node) const { return impl_->position(static_cast<std::uint32_t>(node)); }

}  // namespace sooth
