#include "smt/value_solver.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smt/lazy_solver.h"

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

class ValueSolver::Impl : public LazySolver<Literal> {
 public:
  // The solver for integers that is faster for orders alone, 1, gives up beside bit-vectors.
  Impl(const ExprTable& table, const SolverLimit& limit) : LazySolver(limit, 6), table_(table) {}

  z3::expr expression(const Literal& literal) {
    switch (literal.kind_) {
      case Literal::Kind::kBefore: return node(literal.a_) < node(literal.b_);
      case Literal::Kind::kIs: return flag(literal.a_);
      case Literal::Kind::kIsNot: return !flag(literal.a_);
      case Literal::Kind::kHolds: return translator().condition(ExprId{literal.a_});
    }
    return context().bool_val(false);
  }

  // Whether a clause waits until an order violates it. Those do of which there are many and few ever matter: that
  // something comes before or after something else. What chooses and computes is handed over at once.
  static bool may_wait(Clause clause) {
    return clause.size() > 1 && std::all_of(clause.begin(), clause.end(), [](const Literal& literal) {
             return literal.kind_ == Literal::Kind::kBefore || literal.kind_ == Literal::Kind::kIsNot;
           });
  }

  // Of a clause that may wait.
  bool is_violated(Clause clause) const {
    return std::none_of(clause.begin(), clause.end(), [this](const Literal& literal) {
      return literal.kind_ == Literal::Kind::kBefore ? position(literal.a_) < position(literal.b_)
                                                     : !is_true(literal.a_);
    });
  }

  bool accepts(std::span<const std::int64_t> positions, std::span<const std::uint64_t> given) {
    const std::vector<std::uint64_t> terms = table_.evaluate_all(given);
    std::vector<bool> flag_values(flags(), true);
    const auto holds = [&](const Literal& literal) {
      switch (literal.kind_) {
        case Literal::Kind::kBefore: return positions[literal.a_] < positions[literal.b_];
        case Literal::Kind::kIs: return bool{flag_values[literal.a_]};
        case Literal::Kind::kIsNot: return !flag_values[literal.a_];
        case Literal::Kind::kHolds: return terms[literal.a_] == 1;
      }
      return false;
    };
    // A flag is true unless a clause needs it to be false.
    for_each_clause([&](Clause clause) {
      const auto denial = std::find_if(clause.begin(), clause.end(),
                                       [](const Literal& literal) { return literal.kind_ == Literal::Kind::kIsNot; });
      if (denial != clause.end() && std::none_of(clause.begin(), clause.end(), holds)) {
        flag_values[denial->a_] = false;
      }
    });
    bool all = true;
    for_each_clause([&](Clause clause) { all = all && std::any_of(clause.begin(), clause.end(), holds); });
    if (all) {
      values.assign(given.begin(), given.end());
      set_order({positions.begin(), positions.end()}, std::move(flag_values));
    }
    return all;
  }

  void read_values() {
    const z3::model last = model();
    values.assign(table_.variable_count(), 0);
    for (const auto& [number, variable] : translator().variables()) {
      values[number] = last.eval(variable, true).get_numeral_uint64();
    }
  }

  std::vector<std::uint64_t> values;  // in the last model

 private:
  Translator& translator() {
    if (!translator_) {
      translator_.emplace(context(), table_);
    }
    return *translator_;
  }

  const ExprTable& table_;
  std::optional<Translator> translator_;
};

ValueSolver::ValueSolver(const ExprTable& table, const SolverLimit& limit)
    : impl_(std::make_unique<Impl>(table, limit)) {}
ValueSolver::~ValueSolver() = default;

ValueSolver::Node ValueSolver::add_node() { return Node{impl_->add_node()}; }
ValueSolver::Flag ValueSolver::add_flag() { return Flag{impl_->add_flag()}; }

void ValueSolver::require(std::span<const Literal> clause) {
  impl_->require(clause);
  ++clauses_;
}

bool ValueSolver::accepts(std::span<const std::int64_t> positions, std::span<const std::uint64_t> values) {
  return impl_->accepts(positions, values);
}

ValueSolver::Answer ValueSolver::solve() {
  const z3::check_result result =
      impl_->solve([this](const Literal& literal) { return impl_->expression(literal); },
                   [](std::span<const Literal> clause) { return !Impl::may_wait(clause); },
                   [this](std::span<const Literal> clause) { return impl_->is_violated(clause); }, why_);
  if (result != z3::sat) {
    return result == z3::unsat ? Answer::kNo : Answer::kUnknown;
  }
  try {
    impl_->read_values();
    return Answer::kYes;
  } catch (const z3::exception& error) {
    why_ = error.msg();
  }
  return Answer::kUnknown;
}

std::int64_t ValueSolver::position(Node node) const { return impl_->position(static_cast<std::uint32_t>(node)); }
bool ValueSolver::is_true(Flag flag) const { return impl_->is_true(static_cast<std::uint32_t>(flag)); }
std::uint64_t ValueSolver::value(std::uint32_t variable) const { return impl_->values[variable]; }

}  // namespace sooth
