// The identities that ExprTable applies while expressions are made. Each looks at a fixed number of nodes.
#include "base/ids.h"
#include "smt/expr.h"

namespace sooth {

ExprId ExprTable::extract(ExprId e, unsigned low_bit, unsigned width) {
  while (true) {
    const unsigned from = this->width(e);
    if (low_bit == 0 && width == from) {
      return e;
    }
    const Node& n = node(e);
    const ExprId inner{n.a};
    if (n.op == ExprOp::kConstant) {
      return constant(width, constant_value(e) >> low_bit);
    }
    if (n.op == ExprOp::kExtract) {
      low_bit += n.b;
      e = inner;
    } else if (n.op == ExprOp::kConcat && low_bit + width <= this->width(ExprId{n.b})) {
      e = ExprId{n.b};
    } else if (n.op == ExprOp::kConcat && low_bit >= this->width(ExprId{n.b})) {
      low_bit -= this->width(ExprId{n.b});
      e = inner;
    } else if ((n.op == ExprOp::kZext || n.op == ExprOp::kSext) && low_bit + width <= this->width(inner)) {
      e = inner;
    } else if (n.op == ExprOp::kZext && low_bit >= this->width(inner)) {
      return constant(width, 0);
    } else if ((n.op == ExprOp::kZext || n.op == ExprOp::kSext) && low_bit == 0) {
      return n.op == ExprOp::kZext ? zext(inner, width) : sext(inner, width);
    } else {
      return intern(Node{ExprOp::kExtract, static_cast<std::uint8_t>(width), raw(e), low_bit, 0});
    }
  }
}

ExprId ExprTable::zext(ExprId e, unsigned width) {
  if (width == this->width(e)) {
    return e;
  }
  if (is_constant(e)) {
    return constant(width, constant_value(e));
  }
  return intern(ExprOp::kZext, width, op(e) == ExprOp::kZext ? operand(e, 0) : e);
}

ExprId ExprTable::sext(ExprId e, unsigned width) {
  const unsigned from = this->width(e);
  if (width == from) {
    return e;
  }
  if (is_constant(e)) {
    return constant(width, apply(ExprOp::kSext, width, from, constant_value(e), 0, 0));
  }
  if (op(e) == ExprOp::kZext) {  // the sign is 0
    return intern(ExprOp::kZext, width, operand(e, 0));
  }
  return intern(ExprOp::kSext, width, op(e) == ExprOp::kSext ? operand(e, 0) : e);
}

ExprId ExprTable::simplify(ExprOp op, ExprId a, ExprId b, ExprId c) {
  switch (op) {
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kUDiv:
    case ExprOp::kSDiv:
    case ExprOp::kURem:
    case ExprOp::kSRem: return simplify_arithmetic(op, a, b);
    case ExprOp::kAnd:
    case ExprOp::kOr:
    case ExprOp::kXor: return simplify_bitwise(op, a, b);
    case ExprOp::kNot: return simplify_not(a);
    case ExprOp::kNeg: return this->op(a) == ExprOp::kNeg ? operand(a, 0) : kNoExpr;
    case ExprOp::kShl:
    case ExprOp::kLShr:
    case ExprOp::kAShr: return simplify_shift(op, a, b);
    case ExprOp::kEq: return simplify_equal(a, b);
    case ExprOp::kUlt:
    case ExprOp::kUle:
    case ExprOp::kSlt:
    case ExprOp::kSle: return simplify_comparison(op, a, b);
    case ExprOp::kIte: return simplify_ite(a, b, c);
    case ExprOp::kConcat: return simplify_concat(a, b);
    case ExprOp::kConstant:
    case ExprOp::kVariable:
    case ExprOp::kExtract:
    case ExprOp::kZext:
    case ExprOp::kSext: break;
  }
  return kNoExpr;
}

ExprId ExprTable::simplify_arithmetic(ExprOp op, ExprId a, ExprId b) {
  const unsigned w = width(a);
  if (is_constant(b)) {
    const std::uint64_t k = constant_value(b);
    switch (op) {
      case ExprOp::kAdd:
        if (k == 0) {
          return a;
        }
        if (this->op(a) == ExprOp::kAdd && is_constant(operand(a, 1))) {
          return make(ExprOp::kAdd, operand(a, 0), constant(w, constant_value(operand(a, 1)) + k));
        }
        return kNoExpr;
      case ExprOp::kSub: return make(ExprOp::kAdd, a, constant(w, 0 - k));
      case ExprOp::kMul: return k == 1 ? a : k == 0 ? b : kNoExpr;
      case ExprOp::kUDiv: return k == 1 ? a : kNoExpr;
      case ExprOp::kSDiv: return k == 1 && w > 1 ? a : kNoExpr;
      case ExprOp::kURem: return k == 1 ? constant(w, 0) : kNoExpr;
      default: return kNoExpr;
    }
  }
  if (op == ExprOp::kSub && a == b) {
    return constant(w, 0);
  }
  return op == ExprOp::kSub && is_value(a, 0) ? make(ExprOp::kNeg, b) : kNoExpr;
}

ExprId ExprTable::simplify_bitwise(ExprOp op, ExprId a, ExprId b) {
  const bool zero = is_value(b, 0);
  const bool ones = is_ones(b);
  if (a == b) {
    return op == ExprOp::kXor ? constant(width(a), 0) : a;
  }
  switch (op) {
    case ExprOp::kAnd: return zero ? b : ones ? a : kNoExpr;
    case ExprOp::kOr: return zero ? a : ones ? b : kNoExpr;
    default: return zero ? a : ones ? make(ExprOp::kNot, a) : kNoExpr;
  }
}

ExprId ExprTable::simplify_shift(ExprOp op, ExprId a, ExprId b) {
  const unsigned w = width(a);
  if (is_value(b, 0) || is_value(a, 0)) {
    return a;
  }
  return op != ExprOp::kAShr && is_constant(b) && constant_value(b) >= w ? constant(w, 0) : kNoExpr;
}

// Negated orders turn around, so that a branch and its other side differ as little as they can.
ExprId ExprTable::simplify_not(ExprId a) {
  switch (op(a)) {
    case ExprOp::kNot: return operand(a, 0);
    case ExprOp::kUlt: return make(ExprOp::kUle, operand(a, 1), operand(a, 0));
    case ExprOp::kUle: return make(ExprOp::kUlt, operand(a, 1), operand(a, 0));
    case ExprOp::kSlt: return make(ExprOp::kSle, operand(a, 1), operand(a, 0));
    case ExprOp::kSle: return make(ExprOp::kSlt, operand(a, 1), operand(a, 0));
    default: return kNoExpr;
  }
}

ExprId ExprTable::simplify_comparison(ExprOp op, ExprId a, ExprId b) {
  const bool strict = op == ExprOp::kUlt || op == ExprOp::kSlt;
  if (a == b) {
    return strict ? no() : yes();
  }
  if (op == ExprOp::kUlt && is_value(b, 0)) {
    return no();
  }
  if (op == ExprOp::kUle && (is_value(a, 0) || is_ones(b))) {
    return yes();
  }
  if (op == ExprOp::kUlt && is_value(b, 1)) {
    return make(ExprOp::kEq, a, constant(width(a), 0));
  }
  // What was extended to the same width compares as before; zero extension makes signed order unsigned.
  const ExprOp left = this->op(a);
  if (left == this->op(b) && (left == ExprOp::kZext || left == ExprOp::kSext) &&
      width(operand(a, 0)) == width(operand(b, 0))) {
    const ExprOp order = left == ExprOp::kSext ? op : strict ? ExprOp::kUlt : ExprOp::kUle;
    return make(order, operand(a, 0), operand(b, 0));
  }
  return kNoExpr;
}

ExprId ExprTable::simplify_equal(ExprId a, ExprId b) {
  if (a == b) {
    return yes();
  }
  if (is_constant(b)) {
    return simplify_equal_constant(a, constant_value(b));
  }
  const ExprOp left = op(a);
  if (left == op(b) && (left == ExprOp::kZext || left == ExprOp::kSext) &&
      width(operand(a, 0)) == width(operand(b, 0))) {
    return make(ExprOp::kEq, operand(a, 0), operand(b, 0));
  }
  return kNoExpr;
}

ExprId ExprTable::simplify_equal_constant(ExprId a, std::uint64_t value) {
  const unsigned w = width(a);
  if (w == 1) {
    return value == 1 ? a : make(ExprOp::kNot, a);
  }
  const ExprId x = operand(a, 0);
  const ExprId y = operand(a, 1);
  switch (op(a)) {
    case ExprOp::kZext:
    case ExprOp::kSext: {
      const unsigned from = width(x);
      const std::uint64_t cut = value & low_bits(from);
      return apply(op(a), w, from, cut, 0, 0) == value ? make(ExprOp::kEq, x, constant(from, cut)) : no();
    }
    case ExprOp::kAdd: return is_constant(y) ? make(ExprOp::kEq, x, constant(w, value - constant_value(y))) : kNoExpr;
    case ExprOp::kXor: return is_constant(y) ? make(ExprOp::kEq, x, constant(w, value ^ constant_value(y))) : kNoExpr;
    case ExprOp::kSub: return value == 0 ? make(ExprOp::kEq, x, y) : kNoExpr;
    case ExprOp::kIte: {
      const ExprId z = operand(a, 2);
      if (!is_constant(y) || !is_constant(z)) {
        return kNoExpr;
      }
      const bool first = constant_value(y) == value;
      const bool second = constant_value(z) == value;
      return first && second ? yes() : first ? x : second ? make(ExprOp::kNot, x) : no();
    }
    default: return kNoExpr;
  }
}

ExprId ExprTable::simplify_ite(ExprId a, ExprId b, ExprId c) {
  if (is_constant(a)) {
    return constant_value(a) != 0 ? b : c;
  }
  if (b == c) {
    return b;
  }
  if (width(b) == 1 && is_constant(b) && is_constant(c)) {
    return constant_value(b) != 0 ? a : make(ExprOp::kNot, a);
  }
  return op(a) == ExprOp::kNot ? make(ExprOp::kIte, operand(a, 0), c, b) : kNoExpr;
}

ExprId ExprTable::simplify_concat(ExprId a, ExprId b) {
  if (is_value(a, 0)) {
    return zext(b, width(a) + width(b));
  }
  if (op(a) == ExprOp::kExtract && extract_low(a) == width(b) && extract(operand(a, 0), 0, width(b)) == b) {
    return extract(operand(a, 0), 0, width(a) + width(b));
  }
  if (op(a) == ExprOp::kExtract && op(b) == ExprOp::kExtract && operand(a, 0) == operand(b, 0) &&
      extract_low(a) == extract_low(b) + width(b)) {
    return extract(operand(a, 0), extract_low(b), width(a) + width(b));
  }
  return kNoExpr;
}

}  // namespace sooth
