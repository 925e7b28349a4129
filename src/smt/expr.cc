#include "smt/expr.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/flat_map.h"
#include "base/ids.h"

namespace sooth {

namespace {

constexpr std::int64_t as_signed(std::uint64_t value, unsigned width) {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "expression with widths that do not fit: %s\n", what);
    std::abort();
  }
}

unsigned operand_count(ExprOp op) {
  switch (op) {
    case ExprOp::kConstant:
    case ExprOp::kVariable: return 0;
    case ExprOp::kNot:
    case ExprOp::kNeg:
    case ExprOp::kExtract:
    case ExprOp::kZext:
    case ExprOp::kSext: return 1;
    case ExprOp::kIte: return 3;
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kUDiv:
    case ExprOp::kSDiv:
    case ExprOp::kURem:
    case ExprOp::kSRem:
    case ExprOp::kAnd:
    case ExprOp::kOr:
    case ExprOp::kXor:
    case ExprOp::kShl:
    case ExprOp::kLShr:
    case ExprOp::kAShr:
    case ExprOp::kEq:
    case ExprOp::kUlt:
    case ExprOp::kUle:
    case ExprOp::kSlt:
    case ExprOp::kSle:
    case ExprOp::kConcat: return 2;
  }
  return 0;
}

bool is_comparison(ExprOp op) { return op >= ExprOp::kEq && op <= ExprOp::kSle; }

bool is_commutative(ExprOp op) {
  return op == ExprOp::kAdd || op == ExprOp::kMul || op == ExprOp::kAnd || op == ExprOp::kOr || op == ExprOp::kXor ||
         op == ExprOp::kEq;
}

std::uint64_t divide(ExprOp op, unsigned width, std::uint64_t a, std::uint64_t b) {
  if (op == ExprOp::kUDiv) {
    return b == 0 ? low_bits(width) : a / b;
  }
  if (op == ExprOp::kURem) {
    return b == 0 ? a : a % b;
  }
  const std::int64_t x = as_signed(a, width);
  const std::int64_t y = as_signed(b, width);
  if (op == ExprOp::kSDiv) {
    if (y == 0) {
      return x < 0 ? 1 : low_bits(width);
    }
    return y == -1 ? 0 - a : static_cast<std::uint64_t>(x / y);  // x / -1 may not fit
  }
  if (y == 0) {
    return a;
  }
  return y == -1 ? 0 : static_cast<std::uint64_t>(x % y);
}

std::uint64_t shift(ExprOp op, unsigned width, std::uint64_t a, std::uint64_t b) {
  if (op == ExprOp::kAShr) {
    return static_cast<std::uint64_t>(as_signed(a, width) >> std::min<std::uint64_t>(b, width - 1));
  }
  if (b >= width) {
    return 0;
  }
  return op == ExprOp::kShl ? a << b : a >> b;
}

}  // namespace

std::uint64_t ExprTable::apply(ExprOp op, unsigned width, unsigned from, std::uint64_t a, std::uint64_t b,
                               std::uint64_t c, unsigned low) {
  std::uint64_t r = 0;
  switch (op) {
    case ExprOp::kConstant:
    case ExprOp::kVariable: r = a; break;
    case ExprOp::kAdd: r = a + b; break;
    case ExprOp::kSub: r = a - b; break;
    case ExprOp::kMul: r = a * b; break;
    case ExprOp::kUDiv:
    case ExprOp::kSDiv:
    case ExprOp::kURem:
    case ExprOp::kSRem: r = divide(op, width, a, b); break;
    case ExprOp::kAnd: r = a & b; break;
    case ExprOp::kOr: r = a | b; break;
    case ExprOp::kXor: r = a ^ b; break;
    case ExprOp::kNot: r = ~a; break;
    case ExprOp::kNeg: r = 0 - a; break;
    case ExprOp::kShl:
    case ExprOp::kLShr:
    case ExprOp::kAShr: r = shift(op, width, a, b); break;
    case ExprOp::kEq: r = a == b; break;
    case ExprOp::kUlt: r = a < b; break;
    case ExprOp::kUle: r = a <= b; break;
    case ExprOp::kSlt: r = as_signed(a, from) < as_signed(b, from); break;
    case ExprOp::kSle: r = as_signed(a, from) <= as_signed(b, from); break;
    case ExprOp::kIte: r = a != 0 ? b : c; break;
    case ExprOp::kExtract: r = a >> low; break;
    case ExprOp::kConcat: r = a << low | b; break;  // low: the width of the low part
    case ExprOp::kZext: r = a; break;
    case ExprOp::kSext: r = static_cast<std::uint64_t>(as_signed(a, from)); break;
  }
  return r & low_bits(width);
}

ExprTable::ExprTable() {
  slots_.resize(64);
  nodes_.emplace_back();
  constant(1, 0);
  constant(1, 1);
}

std::size_t ExprTable::memory() const {
  return nodes_.capacity() * sizeof(Node) + slots_.capacity() * sizeof(slots_[0]) +
         variables_.capacity() * sizeof(variables_[0]);
}

ExprId ExprTable::operand(ExprId e, unsigned i) const {
  const Node& n = node(e);
  if (i >= operand_count(n.op)) {
    return kNoExpr;
  }
  return static_cast<ExprId>(i == 0 ? n.a : i == 1 ? n.b : n.c);
}

bool ExprTable::is_ones(ExprId e) const { return is_value(e, low_bits(width(e))); }

ExprId ExprTable::intern(const Node& wanted) {
  std::uint64_t hash = (std::uint64_t{wanted.a} << 32 | wanted.b) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ hash >> 29 ^ (std::uint64_t{wanted.c} << 16 | static_cast<unsigned>(wanted.op) << 8 | wanted.width)) *
         0xBF58476D1CE4E5B9u;
  const std::size_t slot_mask = slots_.size() - 1;
  std::size_t slot = (hash ^ hash >> 32) & slot_mask;
  while (slots_[slot] != 0) {
    if (nodes_[slots_[slot]] == wanted) {
      return static_cast<ExprId>(slots_[slot]);
    }
    slot = (slot + 1) & slot_mask;
  }
  slots_[slot] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(wanted);
  const ExprId made{slots_[slot]};
  if (nodes_.size() * 2 > slots_.size()) {
    grow();
  }
  return made;
}

void ExprTable::grow() {
  const std::vector<Node> old = std::exchange(nodes_, {});
  slots_.assign(slots_.size() * 4, 0);
  nodes_.reserve(old.size() * 2);
  nodes_.emplace_back();
  for (std::size_t i = 1; i < old.size(); ++i) {
    intern(old[i]);  // all are different, so each gets the id it had
  }
}

ExprId ExprTable::intern(ExprOp op, unsigned width, ExprId a, ExprId b, ExprId c) {
  return intern(Node{op, static_cast<std::uint8_t>(width), raw(a), raw(b), raw(c)});
}

ExprId ExprTable::constant(unsigned width, std::uint64_t value) {
  require(width >= 1 && width <= 64, "constant");
  value &= low_bits(width);
  return intern(Node{ExprOp::kConstant, static_cast<std::uint8_t>(width), static_cast<std::uint32_t>(value),
                     static_cast<std::uint32_t>(value >> 32), 0});
}

ExprId ExprTable::variable(unsigned width) {
  require(width >= 1 && width <= 64, "variable");
  const ExprId made = intern(Node{ExprOp::kVariable, static_cast<std::uint8_t>(width), variable_count(), 0, 0});
  variables_.push_back(made);
  return made;
}

ExprId ExprTable::make(ExprOp op, ExprId a, ExprId b, ExprId c) {
  const unsigned operands = operand_count(op);
  require(op != ExprOp::kExtract && op != ExprOp::kZext && op != ExprOp::kSext && operands > 0, "make");
  require((b != kNoExpr) == (operands >= 2) && (c != kNoExpr) == (operands == 3), "operands");
  const unsigned from = node(a).width;
  unsigned width = is_comparison(op) ? 1 : from;
  if (op == ExprOp::kConcat) {
    width = from + node(b).width;
    require(width <= 64, "concat");
  } else if (op == ExprOp::kIte) {
    require(from == 1 && node(b).width == node(c).width, "ite");
    width = node(b).width;
  } else if (operands == 2) {
    require(from == node(b).width, "binary");
  }
  const auto known = [&](ExprId e) { return e == kNoExpr || is_constant(e); };
  if (known(a) && known(b) && known(c)) {
    const auto value = [&](ExprId e) { return e == kNoExpr ? 0 : constant_value(e); };
    return constant(width, apply(op, width, from, value(a), value(b), value(c), b == kNoExpr ? 0 : node(b).width));
  }
  // Constants stand right; what is equal but for the order of its operands becomes one expression.
  if (is_commutative(op) && (is_constant(a) || (!is_constant(b) && raw(a) > raw(b)))) {
    std::swap(a, b);
  }
  const ExprId simple = simplify(op, a, b, c);
  return simple != kNoExpr ? simple : intern(op, width, a, b, c);
}

std::uint64_t ExprTable::compute(ExprId e, std::span<const std::uint64_t> variables, std::uint64_t a, std::uint64_t b,
                                 std::uint64_t c) const {
  const Node& n = node(e);
  switch (n.op) {
    case ExprOp::kConstant: return constant_value(e);
    case ExprOp::kVariable: return variables[n.a] & low_bits(n.width);
    case ExprOp::kExtract: return apply(n.op, n.width, 0, a, 0, 0, n.b);
    case ExprOp::kConcat: return apply(n.op, n.width, 0, a, b, 0, node(ExprId{n.b}).width);
    default: return apply(n.op, n.width, node(ExprId{n.a}).width, a, b, c);
  }
}

std::vector<std::uint64_t> ExprTable::evaluate_all(std::span<const std::uint64_t> variables) const {
  std::vector<std::uint64_t> values(nodes_.size());
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    const ExprId e{i};
    values[i] =
        compute(e, variables, values[raw(operand(e, 0))], values[raw(operand(e, 1))], values[raw(operand(e, 2))]);
  }
  return values;
}

std::uint64_t ExprTable::evaluate(ExprId e, std::span<const std::uint64_t> variables) const {
  if (is_constant(e)) {
    return constant_value(e);
  }
  FlatMap<std::uint64_t> values;
  values[0] = 0;
  std::vector<ExprId> open{e};
  while (!open.empty()) {
    const ExprId next = open.back();
    bool ready = true;
    std::uint64_t operands[3] = {};
    for (unsigned i = 0; i < 3; ++i) {
      const ExprId o = operand(next, i);
      if (const std::uint64_t* known = values.find(raw(o))) {
        operands[i] = *known;
      } else {
        open.push_back(o);
        ready = false;
      }
    }
    if (ready) {
      values[raw(next)] = compute(next, variables, operands[0], operands[1], operands[2]);
      open.pop_back();
    }
  }
  return *values.find(raw(e));
}

std::vector<std::uint32_t> ExprTable::variables_in(ExprId e) const {
  std::vector<std::uint32_t> found;
  FlatMap<bool> seen;
  seen[0] = true;
  std::vector<ExprId> open{e};
  while (!open.empty()) {
    const ExprId next = open.back();
    open.pop_back();
    if (std::exchange(seen[raw(next)], true)) {
      continue;
    }
    if (is_variable(next)) {
      found.push_back(variable_number(next));
    }
    for (unsigned i = 0; i < 3; ++i) {
      open.push_back(operand(next, i));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace sooth
