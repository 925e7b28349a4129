#include "smt/expr.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/ids.h"
#include "base/test_environment.h"

namespace sooth {
namespace {

TEST(Expr, EqualExpressionsAreOne) {
  ExprTable t;
  const ExprId x = t.variable(32);
  const ExprId y = t.variable(32);
  EXPECT_EQ(t.make(ExprOp::kAdd, x, y), t.make(ExprOp::kAdd, y, x));
  EXPECT_NE(t.make(ExprOp::kSub, x, y), t.make(ExprOp::kSub, y, x));
  EXPECT_EQ(t.constant(8, 0x1ff), t.constant(8, 0xff));
  EXPECT_NE(t.constant(8, 1), t.constant(16, 1));
  EXPECT_EQ(t.variable_number(y), 1u);
  EXPECT_EQ(t.variable_at(1), y);
}

TEST(Expr, ReadsLikeAProgram) {
  ExprTable t;
  const ExprId x = t.variable(32);
  const ExprId sum = t.make(ExprOp::kAdd, x, t.constant(32, 1));
  const ExprId less = t.make(ExprOp::kSlt, sum, t.constant(32, 7));
  EXPECT_EQ(t.to_string(less), "(x0 + 1) <s 7");
  EXPECT_EQ(t.to_string(t.make(ExprOp::kNot, less)), "7 <=s (x0 + 1)");
  EXPECT_EQ(t.to_string(t.make(ExprOp::kSub, x, t.constant(32, 3))), "x0 + -3");
  EXPECT_EQ(t.to_string(t.extract(x, 8, 8)), "x0[15:8]");
  EXPECT_EQ(t.to_string(t.make(ExprOp::kIte, less, x, t.constant(32, 0x7fff0000))),
            "if((x0 + 1) <s 7, x0, 0x7fff0000)");
  const std::string name = "y@4";
  EXPECT_EQ(t.to_string(t.sext(x, 64), std::span(&name, 1)), "s64(y@4)");
}

TEST(Expr, ComparisonsOfBooleansUnfold) {
  // What clang makes of `if (flag)`: icmp ne (zext i1 -> i32), 0.
  ExprTable t;
  const ExprId x = t.variable(32);
  const ExprId flag = t.make(ExprOp::kSlt, x, t.constant(32, 5));
  const ExprId wide = t.zext(flag, 32);
  EXPECT_EQ(t.make(ExprOp::kNot, t.make(ExprOp::kEq, wide, t.constant(32, 0))), flag);
  EXPECT_EQ(t.extract(t.zext(flag, 8), 0, 1), flag);
  EXPECT_EQ(t.make(ExprOp::kEq, wide, t.constant(32, 2)), t.no());
}

TEST(Expr, BytesPutTogetherAgainAreTheValue) {
  ExprTable t;
  const ExprId x = t.variable(32);
  ExprId joined = t.extract(x, 0, 8);
  for (unsigned byte = 1; byte < 4; ++byte) {
    joined = t.make(ExprOp::kConcat, t.extract(x, byte * 8, 8), joined);
  }
  EXPECT_EQ(joined, x);
}

TEST(Expr, DeepExpressionsNeedNoStack) {
  ExprTable t;
  const ExprId x = t.variable(64);
  ExprId e = x;
  for (int i = 0; i < 1'000'000; ++i) {
    e = t.make(ExprOp::kAdd, t.make(ExprOp::kXor, e, t.constant(64, 5)), x);
  }
  const std::vector<std::uint64_t> values{3};
  EXPECT_EQ(t.evaluate(e, values), t.evaluate_all(values)[raw(e)]);
  EXPECT_EQ(t.variables_in(e), std::vector<std::uint32_t>{0});
  EXPECT_LT(t.to_string(e).size(), 10'000u);
}

// Random expressions, made through the simplifier, against the operators applied to values one by one.
class RandomExpression {
 public:
  explicit RandomExpression(std::uint64_t seed) : random_(seed) {
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned width = pick_width();
      add(table_.variable(width), values_.emplace_back(value(width)), width);
    }
    for (unsigned i = 0; i < 40; ++i) {
      step();
    }
  }

  void check(std::uint64_t seed) const {
    const std::vector<std::uint64_t> all = table_.evaluate_all(values_);
    for (const Made& made : made_) {
      ASSERT_EQ(table_.width(made.expr), made.width) << "SOOTH_SEED=" << seed;
      ASSERT_EQ(all[raw(made.expr)], made.value) << "SOOTH_SEED=" << seed << ": " << table_.to_string(made.expr);
      ASSERT_EQ(table_.evaluate(made.expr, values_), made.value) << "SOOTH_SEED=" << seed;
    }
  }

 private:
  struct Made {
    ExprId expr{};
    std::uint64_t value = 0;
    unsigned width = 0;
  };

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  unsigned pick_width() {
    constexpr unsigned kWidths[] = {1, 8, 16, 32, 64, 7, 33};
    return kWidths[below(std::size(kWidths))];
  }
  static std::uint64_t cut(std::uint64_t v, unsigned width) {
    return width == 64 ? v : v & ((std::uint64_t{1} << width) - 1);
  }
  // Corners as often as not.
  std::uint64_t value(unsigned width) {
    const std::uint64_t corners[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << (width - 1), below(8)};
    return cut(below(2) == 0 ? corners[below(5)] : random_(), width);
  }
  void add(ExprId expr, std::uint64_t v, unsigned width) { made_.push_back({expr, v, width}); }
  Made any() { return made_[below(made_.size())]; }
  Made of_width(unsigned width) {
    for (int i = 0; i < 8; ++i) {
      if (const Made made = any(); made.width == width) {
        return made;
      }
    }
    const std::uint64_t v = value(width);
    return {table_.constant(width, v), v, width};
  }

  void step() {
    const Made a = any();
    const auto op = static_cast<ExprOp>(2 + below(static_cast<unsigned>(ExprOp::kSext) - 1));
    switch (op) {
      case ExprOp::kExtract: {
        const auto low = static_cast<unsigned>(below(a.width));
        const auto width = static_cast<unsigned>(1 + below(a.width - low));
        add(table_.extract(a.expr, low, width), ExprTable::apply(op, width, a.width, a.value, 0, 0, low), width);
        break;
      }
      case ExprOp::kZext:
      case ExprOp::kSext: {
        const auto width = static_cast<unsigned>(a.width + below(65 - a.width));
        add(op == ExprOp::kZext ? table_.zext(a.expr, width) : table_.sext(a.expr, width),
            ExprTable::apply(op, width, a.width, a.value, 0, 0), width);
        break;
      }
      case ExprOp::kConcat: {
        const Made b = any();
        if (a.width + b.width <= 64) {
          add(table_.make(op, a.expr, b.expr), a.value << b.width | b.value, a.width + b.width);
        }
        break;
      }
      case ExprOp::kIte: {
        const Made condition = of_width(1);
        const Made b = of_width(a.width);
        add(table_.make(op, condition.expr, a.expr, b.expr), condition.value != 0 ? a.value : b.value, a.width);
        break;
      }
      case ExprOp::kNot:
      case ExprOp::kNeg:
        add(table_.make(op, a.expr), ExprTable::apply(op, a.width, a.width, a.value, 0, 0), a.width);
        break;
      default: {
        const Made b = of_width(a.width);
        const unsigned width = op >= ExprOp::kEq && op <= ExprOp::kSle ? 1 : a.width;
        add(table_.make(op, a.expr, b.expr), ExprTable::apply(op, width, a.width, a.value, b.value, 0), width);
      }
    }
  }

  std::mt19937_64 random_;
  ExprTable table_;
  std::vector<std::uint64_t> values_;
  std::vector<Made> made_;
};

TEST(Expr, SimplifyingKeepsValues) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  for (std::uint64_t seed = first; seed < first + cases && !HasFatalFailure(); ++seed) {
    RandomExpression(seed).check(seed);
  }
}

TEST(Expr, OperatorsOnValues) {
  const auto apply = [](ExprOp op, unsigned width, std::uint64_t a, std::uint64_t b) {
    return ExprTable::apply(op, width, width, a, b, 0);
  };
  EXPECT_EQ(apply(ExprOp::kSDiv, 8, 0x80, 0xff), 0x80u);
  EXPECT_EQ(apply(ExprOp::kSRem, 64, std::uint64_t{1} << 63, ~std::uint64_t{0}), 0u);
  EXPECT_EQ(apply(ExprOp::kSDiv, 8, 0xf9, 2), 0xfdu);  // -7 / 2 is -3
  EXPECT_EQ(apply(ExprOp::kSRem, 8, 0xf9, 2), 0xffu);
  EXPECT_EQ(apply(ExprOp::kUDiv, 8, 7, 0), 0xffu);
  EXPECT_EQ(apply(ExprOp::kURem, 8, 7, 0), 7u);
  EXPECT_EQ(apply(ExprOp::kAShr, 8, 0x80, 200), 0xffu);
  EXPECT_EQ(apply(ExprOp::kLShr, 8, 0x80, 8), 0u);
  EXPECT_EQ(ExprTable::apply(ExprOp::kSlt, 1, 8, 0x80, 0x7f, 0), 1u);
}

}  // namespace
}  // namespace sooth
