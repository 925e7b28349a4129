// Bit-vector expressions over the values that threads read: what symbolic execution computes and solvers are asked
// about.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sooth {

enum class ExprId : std::uint32_t {};  // in its ExprTable
inline constexpr ExprId kNoExpr{0};

// The lowest `width` bits set.
constexpr std::uint64_t low_bits(unsigned width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

enum class ExprOp : std::uint8_t {
  kConstant,
  kVariable,
  kAdd,
  kSub,
  kMul,
  kUDiv,
  kSDiv,
  kURem,
  kSRem,
  kAnd,
  kOr,
  kXor,
  kNot,
  kNeg,
  kShl,
  kLShr,
  kAShr,
  kEq,
  kUlt,
  kUle,
  kSlt,
  kSle,
  kIte,      // operands: a condition of width 1, then two values of one width
  kExtract,  // extract_low(e) tells the lowest bit that is taken
  kConcat,   // operands: high bits, low bits
  kZext,
  kSext,
};

// Owns expressions of 1 to 64 bits. Equal expressions have equal ids: whoever compares ids compares expressions.
// Constants are folded and cheap identities applied, so what is always true is constant(1, 1). Operands have smaller
// ids than what is made of them: walking ids upwards visits every expression after its parts. Comparisons have width 1.
//
// Nothing is undefined: division by zero and shifts by the width or more mean what SMT-LIB says (x / 0 is all ones or,
// signed, 1 for negative x and else -1; x % 0 is x; shifts give 0, kAShr copies of the sign; the most negative number
// divided by
// -1 is itself). Who models a program must exclude what that program leaves undefined.
//
// A broken precondition (widths that do not fit) aborts. Not thread safe while expressions are made; reading is.
class ExprTable {
 public:
  ExprTable();

  // Bits of `value` beyond `width` are ignored.
  ExprId constant(unsigned width, std::uint64_t value);
  // A new one; they are numbered from 0.
  ExprId variable(unsigned width);
  // All but kConstant, kVariable, kExtract, kZext and kSext.
  ExprId make(ExprOp op, ExprId a, ExprId b = kNoExpr, ExprId c = kNoExpr);
  // Bits low_bit to low_bit + width - 1.
  ExprId extract(ExprId e, unsigned low_bit, unsigned width);
  // To `width`, which is not less than that of e.
  ExprId zext(ExprId e, unsigned width);
  ExprId sext(ExprId e, unsigned width);

  ExprId yes() const { return ExprId{2}; }  // constant(1, 1)
  ExprId no() const { return ExprId{1}; }   // constant(1, 0)

  ExprOp op(ExprId e) const { return node(e).op; }
  unsigned width(ExprId e) const { return node(e).width; }
  // kNoExpr where the operator takes fewer.
  ExprId operand(ExprId e, unsigned i) const;
  bool is_constant(ExprId e) const { return node(e).op == ExprOp::kConstant; }
  std::uint64_t constant_value(ExprId e) const { return node(e).a | std::uint64_t{node(e).b} << 32; }
  bool is_variable(ExprId e) const { return node(e).op == ExprOp::kVariable; }
  std::uint32_t variable_number(ExprId e) const { return node(e).a; }
  unsigned extract_low(ExprId e) const { return node(e).b; }
  std::uint32_t variable_count() const { return static_cast<std::uint32_t>(variables_.size()); }
  // The expression of a variable.
  ExprId variable_at(std::uint32_t number) const { return variables_[number]; }
  // Ids are 1 to size() - 1.
  std::size_t size() const { return nodes_.size(); }
  std::size_t memory() const;

  // The value of `e` when variable i has the value variables[i] (bits beyond its width are ignored). Time is linear in
  // the distinct parts of `e`, whatever its depth.
  std::uint64_t evaluate(ExprId e, std::span<const std::uint64_t> variables) const;
  // Of all expressions at once, by id.
  std::vector<std::uint64_t> evaluate_all(std::span<const std::uint64_t> variables) const;
  // One operation on values; `low` is that of kExtract, `from` the width of the operands. The result fits into `width`.
  static std::uint64_t apply(ExprOp op, unsigned width, unsigned from, std::uint64_t a, std::uint64_t b,
                             std::uint64_t c, unsigned low = 0);
  // The numbers of the variables in `e`, ascending.
  std::vector<std::uint32_t> variables_in(ExprId e) const;

  // "(x3 + 1) <s 7": for people. Variables are x and their number, or names[number] where there is one. What is too
  // deep or too long to be read is printed as "...".
  std::string to_string(ExprId e, std::span<const std::string> names = {}) const;

 private:
  struct Node {
    ExprOp op = ExprOp::kConstant;
    std::uint8_t width = 0;
    std::uint32_t a = 0, b = 0, c = 0;  // operands; of a constant its halves, of a variable its number
    friend bool operator==(const Node&, const Node&) = default;
  };

  const Node& node(ExprId e) const { return nodes_[static_cast<std::uint32_t>(e)]; }
  // The id of that node, which is added when it is new.
  ExprId intern(const Node& wanted);
  ExprId intern(ExprOp op, unsigned width, ExprId a, ExprId b = kNoExpr, ExprId c = kNoExpr);
  void grow();
  bool is_value(ExprId e, std::uint64_t value) const { return is_constant(e) && constant_value(e) == value; }
  bool is_ones(ExprId e) const;
  std::uint64_t compute(ExprId e, std::span<const std::uint64_t> variables, std::uint64_t a, std::uint64_t b,
                        std::uint64_t c) const;

  // Simpler equals of make(op, a, b, c); kNoExpr: none.
  ExprId simplify(ExprOp op, ExprId a, ExprId b, ExprId c);
  ExprId simplify_arithmetic(ExprOp op, ExprId a, ExprId b);
  ExprId simplify_bitwise(ExprOp op, ExprId a, ExprId b);
  ExprId simplify_shift(ExprOp op, ExprId a, ExprId b);
  ExprId simplify_not(ExprId a);
  ExprId simplify_comparison(ExprOp op, ExprId a, ExprId b);
  ExprId simplify_equal(ExprId a, ExprId b);
  ExprId simplify_equal_constant(ExprId a, std::uint64_t value);
  ExprId simplify_ite(ExprId a, ExprId b, ExprId c);
  ExprId simplify_concat(ExprId a, ExprId b);

  std::vector<Node> nodes_;
  std::vector<ExprId> variables_;
  std::vector<std::uint32_t> slots_;  // open addressing over nodes_; 0 is free
};

}  // namespace sooth
