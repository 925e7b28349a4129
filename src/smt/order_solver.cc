#include "smt/order_solver.h"

#include <z3++.h>

#include <algorithm>
#include <vector>

namespace sooth {

// Clauses lie one behind the other in `literals`.
class OrderSolver::Impl {
 public:
  explicit Impl(std::chrono::milliseconds timeout)
      : deadline_(std::chrono::steady_clock::now() + timeout), solver_(context_, z3::solver::simple()) {}

  // Milliseconds that are left, at least 1.
  unsigned time_left() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    return static_cast<unsigned>(std::clamp<std::int64_t>(left.count(), 1, 1'000'000'000));
  }
  bool out_of_time() const { return std::chrono::steady_clock::now() >= deadline_; }

  z3::expr expression(const Literal& literal) {
    switch (literal.kind_) {
      case Literal::Kind::kBefore: return node(literal.a_) < node(literal.b_);
      case Literal::Kind::kIs: return flag(literal.a_);
      case Literal::Kind::kIsNot: return !flag(literal.a_);
    }
    return context_.bool_val(false);
  }

  void assert_clause(std::span<const Literal> clause) {
    if (clause.size() == 1) {
      solver_.add(expression(clause.front()));
      return;
    }
    z3::expr_vector alternatives(context_);
    for (const Literal& literal : clause) {
      alternatives.push_back(expression(literal));
    }
    solver_.add(z3::mk_or(alternatives));
  }

  z3::check_result check() {
    z3::params params(context_);
    params.set("timeout", time_left());
    params.set("arith.solver", 1u);
    solver_.set(params);
    const z3::check_result result = solver_.check();
    if (result == z3::sat) {
      read_model();
    }
    return result;
  }

  std::string reason() const { return solver_.reason_unknown(); }

  std::uint32_t nodes = 0, flags = 0;
  std::vector<Literal> literals;        // of the clauses that wait
  std::vector<std::size_t> ends;        // of each: where it ends; clause i begins where i - 1 ends
  std::vector<std::int64_t> positions;  // in the latest model
  std::vector<bool> flag_values;

 private:
  z3::expr node(std::uint32_t number) {
    for (; node_names_.size() <= number;) {
      node_names_.push_back(
          context_.constant(context_.int_symbol(static_cast<int>(node_names_.size())), context_.int_sort()));
    }
    return node_names_[static_cast<unsigned>(number)];
  }
  z3::expr flag(std::uint32_t number) {
    for (; flag_names_.size() <= number;) {
      flag_names_.push_back(context_.bool_const(("f" + std::to_string(flag_names_.size())).c_str()));
    }
    return flag_names_[static_cast<unsigned>(number)];
  }

  void read_model() {
    const z3::model model = solver_.get_model();
    positions.assign(nodes, 0);
    flag_values.assign(flags, false);
    for (std::uint32_t i = 0; i < nodes && i < node_names_.size(); ++i) {
      positions[i] = model.eval(node(i), true).get_numeral_int64();
    }
    for (std::uint32_t i = 0; i < flags && i < flag_names_.size(); ++i) {
      flag_values[i] = model.eval(flag(i), true).is_true();
    }
  }

  const std::chrono::steady_clock::time_point deadline_;
  z3::context context_;
  z3::solver solver_;
  z3::expr_vector node_names_{context_}, flag_names_{context_};
};

OrderSolver::OrderSolver(std::chrono::milliseconds timeout) : impl_(std::make_unique<Impl>(timeout)) {}
OrderSolver::~OrderSolver() = default;

OrderSolver::Node OrderSolver::add_node() {
  return Node{impl_->nodes++};
}
OrderSolver::Flag OrderSolver::add_flag() {
  return Flag{impl_->flags++};
}

void OrderSolver::require(std::span<const Literal> clause) {
  impl_->literals.insert(impl_->literals.end(), clause.begin(), clause.end());
  impl_->ends.push_back(impl_->literals.size());
  ++clauses_;
}

bool OrderSolver::holds(const Literal& literal) const {
  switch (literal.kind_) {
    case Literal::Kind::kBefore: return impl_->positions[literal.a_] < impl_->positions[literal.b_];
    case Literal::Kind::kIs: return impl_->flag_values[literal.a_];
    case Literal::Kind::kIsNot: return !impl_->flag_values[literal.a_];
  }
  return false;
}

// Gives the solver those of the clauses that wait for which `choose` holds. Returns how many.
template <typename Choose>
std::uint64_t OrderSolver::hand_over(Choose&& choose) {
  std::uint64_t handed = 0;
  std::vector<Literal> waiting;
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  for (const std::size_t end : impl_->ends) {
    const std::span<const Literal> clause = std::span(impl_->literals).subspan(begin, end - begin);
    begin = end;
    if (choose(clause)) {
      impl_->assert_clause(clause);
      ++handed;
    } else {
      waiting.insert(waiting.end(), clause.begin(), clause.end());
      ends.push_back(waiting.size());
    }
  }
  impl_->literals = std::move(waiting);
  impl_->ends = std::move(ends);
  return handed;
}

OrderSolver::Answer OrderSolver::solve() {
  const auto is_violated = [this](std::span<const Literal> clause) {
    return std::none_of(clause.begin(), clause.end(), [this](const Literal& literal) { return holds(literal); });
  };
  try {
    hand_over([](std::span<const Literal> clause) { return clause.size() <= 1; });
    while (!impl_->out_of_time()) {
      const z3::check_result result = impl_->check();
      if (result != z3::sat) {
        why_ = result == z3::unknown ? impl_->reason() : "";
        return result == z3::unsat ? Answer::kNo : Answer::kUnknown;
      }
      if (hand_over(is_violated) == 0) {
        return Answer::kYes;
      }
    }
    why_ = "timeout";
  } catch (const z3::exception& error) {
    why_ = error.msg();
  }
  return Answer::kUnknown;
}

std::int64_t OrderSolver::position(Node node) const {
  return impl_->positions[static_cast<std::uint32_t>(node)];
}

}  // namespace sooth
