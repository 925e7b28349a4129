#include "smt/value_solver.h"

#include <z3++.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sooth {
namespace {

// Expressions of a table in the language of the solver. Conditions come out as booleans, so that what is mostly logic
// stays logic; as parts of other expressions they are bits.
class Translator {
 public:
  Translator(z3::context& context, const ExprTable& table) : context_(context), table_(table) {}

  z3::expr condition(ExprId e) {
    translate(e);
    return truth(e);
  }
  // By number, of those that something mentions that was translated.
  const std::vector<std::pair<std::uint32_t, z3::expr>>& variables() const { return variables_; }

 private:
  // Whether its term is a boolean.
  bool is_logic(ExprId e) const {
    switch (table_.op(e)) {
      case ExprOp::kEq:
      case ExprOp::kUlt:
      case ExprOp::kUle:
      case ExprOp::kSlt:
      case ExprOp::kSle: return true;
      case ExprOp::kNot:
      case ExprOp::kAnd:
      case ExprOp::kOr:
      case ExprOp::kXor:
      case ExprOp::kIte: return table_.width(e) == 1;
      default: return false;
    }
  }

  // Parts first, without recursion: expressions can be as deep as a thread is long.
  void translate(ExprId root) {
    std::vector<ExprId> stack{root};
    while (!stack.empty()) {
      const ExprId e = stack.back();
      if (terms_.contains(e)) {
        stack.pop_back();
        continue;
      }
      const std::size_t size = stack.size();
      for (unsigned i = 0; i < 3; ++i) {
        const ExprId part = table_.operand(e, i);
        if (part != kNoExpr && !terms_.contains(part)) {
          stack.push_back(part);
        }
      }
      if (stack.size() == size) {
        const z3::expr& term = terms_.emplace(e, make(e)).first->second;
        if (table_.is_variable(e)) {
          variables_.emplace_back(table_.variable_number(e), term);
        }
        stack.pop_back();
      }
    }
  }

  z3::expr bits(ExprId e) const {
    const z3::expr& term = terms_.at(e);
    return is_logic(e) ? z3::ite(term, context_.bv_val(1, 1), context_.bv_val(0, 1)) : term;
  }
  z3::expr truth(ExprId e) const {
    const z3::expr& term = terms_.at(e);
    return is_logic(e) ? term : term == context_.bv_val(1, 1);
  }

  z3::expr make(ExprId e) const {
    const unsigned width = table_.width(e);
    const ExprId a = table_.operand(e, 0), b = table_.operand(e, 1), c = table_.operand(e, 2);
    const bool logic = is_logic(e);
    switch (table_.op(e)) {
      case ExprOp::kConstant: return context_.bv_val(static_cast<std::uint64_t>(table_.constant_value(e)), width);
      case ExprOp::kVariable:
        return context_.bv_const(("x" + std::to_string(table_.variable_number(e))).c_str(), width);
      case ExprOp::kAdd: return bits(a) + bits(b);
      case ExprOp::kSub: return bits(a) - bits(b);
      case ExprOp::kMul: return bits(a) * bits(b);
      case ExprOp::kUDiv: return z3::udiv(bits(a), bits(b));
      case ExprOp::kSDiv: return bits(a) / bits(b);
      case ExprOp::kURem: return z3::urem(bits(a), bits(b));
      case ExprOp::kSRem: return z3::srem(bits(a), bits(b));
      case ExprOp::kAnd: return logic ? truth(a) && truth(b) : bits(a) & bits(b);
      case ExprOp::kOr: return logic ? truth(a) || truth(b) : bits(a) | bits(b);
      case ExprOp::kXor: return logic ? truth(a) != truth(b) : bits(a) ^ bits(b);
      case ExprOp::kNot: return logic ? !truth(a) : ~bits(a);
      case ExprOp::kNeg: return -bits(a);
      case ExprOp::kShl: return z3::shl(bits(a), bits(b));
      case ExprOp::kLShr: return z3::lshr(bits(a), bits(b));
      case ExprOp::kAShr: return z3::ashr(bits(a), bits(b));
      case ExprOp::kEq: return table_.width(a) == 1 ? truth(a) == truth(b) : bits(a) == bits(b);
      case ExprOp::kUlt: return z3::ult(bits(a), bits(b));
      case ExprOp::kUle: return z3::ule(bits(a), bits(b));
      case ExprOp::kSlt: return z3::slt(bits(a), bits(b));
      case ExprOp::kSle: return z3::sle(bits(a), bits(b));
      case ExprOp::kIte: return z3::ite(truth(a), logic ? truth(b) : bits(b), logic ? truth(c) : bits(c));
      case ExprOp::kExtract: {
        const unsigned low = table_.extract_low(e);
        return bits(a).extract(low + width - 1, low);
      }
      case ExprOp::kConcat: return z3::concat(bits(a), bits(b));
      case ExprOp::kZext: return z3::zext(bits(a), width - table_.width(a));
      case ExprOp::kSext: return z3::sext(bits(a), width - table_.width(a));
    }
    return context_.bool_val(false);
  }

  z3::context& context_;
  const ExprTable& table_;
  std::unordered_map<ExprId, z3::expr> terms_;
  std::vector<std::pair<std::uint32_t, z3::expr>> variables_;
};

}  // namespace

// Clauses that wait lie one behind the other in `literals`.
class ValueSolver::Impl {
 public:
  Impl(const ExprTable& table, std::chrono::milliseconds timeout)
      : deadline_(std::chrono::steady_clock::now() + timeout),
        solver_(context_, z3::solver::simple()),
        table_(table),
        translator_(context_, table) {}

  bool out_of_time() const { return std::chrono::steady_clock::now() >= deadline_; }

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
    params.set("arith.solver", 6u);  // 1, which is faster for orders alone, gives up beside bit-vectors
    solver_.set(params);
    const z3::check_result result = solver_.check();
    if (result == z3::sat) {
      read_order(solver_.get_model());
    }
    return result;
  }

  std::string reason() const { return solver_.reason_unknown(); }

  void read_values() {
    const z3::model model = solver_.get_model();
    values.assign(table_.variable_count(), 0);
    for (const auto& [number, variable] : translator_.variables()) {
      values[number] = model.eval(variable, true).get_numeral_uint64();
    }
  }

  std::uint32_t nodes = 0, flags = 0;
  std::vector<Literal> literals;        // of the clauses that wait
  std::vector<std::size_t> ends;        // of each: where it ends; clause i begins where i - 1 ends
  std::vector<std::int64_t> positions;  // in the latest model
  std::vector<bool> flag_values;
  std::vector<std::uint64_t> values;    // in the last one

 private:
  // Milliseconds that are left, at least 1.
  unsigned time_left() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    return static_cast<unsigned>(std::clamp<std::int64_t>(left.count(), 1, 1'000'000'000));
  }

  z3::expr expression(const Literal& literal) {
    switch (literal.kind_) {
      case Literal::Kind::kBefore: return node(literal.a_) < node(literal.b_);
      case Literal::Kind::kIs: return flag(literal.a_);
      case Literal::Kind::kIsNot: return !flag(literal.a_);
      case Literal::Kind::kHolds: return translator_.condition(ExprId{literal.a_});
    }
    return context_.bool_val(false);
  }

  z3::expr node(std::uint32_t number) {
    while (node_names_.size() <= number) {
      node_names_.push_back(
          context_.constant(context_.int_symbol(static_cast<int>(node_names_.size())), context_.int_sort()));
    }
    return node_names_[static_cast<unsigned>(number)];
  }
  z3::expr flag(std::uint32_t number) {
    while (flag_names_.size() <= number) {
      flag_names_.push_back(context_.bool_const(("f" + std::to_string(flag_names_.size())).c_str()));
    }
    return flag_names_[static_cast<unsigned>(number)];
  }

  void read_order(const z3::model& model) {
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
  const ExprTable& table_;
  Translator translator_;
  z3::expr_vector node_names_{context_}, flag_names_{context_};
};

ValueSolver::ValueSolver(const ExprTable& table, std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>(table, timeout)) {}
ValueSolver::~ValueSolver() = default;

ValueSolver::Node ValueSolver::add_node() {
  return Node{impl_->nodes++};
}
ValueSolver::Flag ValueSolver::add_flag() {
  return Flag{impl_->flags++};
}

void ValueSolver::require(std::span<const Literal> clause) {
  impl_->literals.insert(impl_->literals.end(), clause.begin(), clause.end());
  impl_->ends.push_back(impl_->literals.size());
  ++clauses_;
}

bool ValueSolver::may_wait(std::span<const Literal> clause) {
  return clause.size() > 1 && std::all_of(clause.begin(), clause.end(), [](const Literal& literal) {
           return literal.kind_ == Literal::Kind::kBefore || literal.kind_ == Literal::Kind::kIsNot;
         });
}

bool ValueSolver::is_violated(std::span<const Literal> clause) const {
  return std::none_of(clause.begin(), clause.end(), [this](const Literal& literal) {
    return literal.kind_ == Literal::Kind::kBefore ? impl_->positions[literal.a_] < impl_->positions[literal.b_]
                                                   : !impl_->flag_values[literal.a_];
  });
}

template <typename Choose>
std::uint64_t ValueSolver::hand_over(Choose&& choose) {
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

ValueSolver::Answer ValueSolver::solve() {
  try {
    hand_over([](std::span<const Literal> clause) { return !may_wait(clause); });
    while (!impl_->out_of_time()) {
      const z3::check_result result = impl_->check();
      if (result != z3::sat) {
        why_ = result == z3::unknown ? impl_->reason() : "";
        return result == z3::unsat ? Answer::kNo : Answer::kUnknown;
      }
      if (hand_over([this](std::span<const Literal> clause) { return is_violated(clause); }) == 0) {
        impl_->read_values();
        return Answer::kYes;
      }
    }
    why_ = "timeout";
  } catch (const z3::exception& error) {
    why_ = error.msg();
  }
  return Answer::kUnknown;
}

std::int64_t ValueSolver::position(Node node) const {
  return impl_->positions[static_cast<std::uint32_t>(node)];
}
bool ValueSolver::is_true(Flag flag) const {
  return impl_->flag_values[static_cast<std::uint32_t>(flag)];
}
std::uint64_t ValueSolver::value(std::uint32_t variable) const {
  return impl_->values[variable];
}

}  // namespace sooth
