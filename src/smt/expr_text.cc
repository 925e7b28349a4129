// How expressions read.
#include "base/ids.h"
#include "smt/expr.h"

namespace sooth {

namespace {

constexpr unsigned kDeepest = 40;
constexpr std::size_t kLongest = 4000;

const char* symbol(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd: return " + ";
    case ExprOp::kSub: return " - ";
    case ExprOp::kMul: return " * ";
    case ExprOp::kUDiv: return " /u ";
    case ExprOp::kSDiv: return " /s ";
    case ExprOp::kURem: return " %u ";
    case ExprOp::kSRem: return " %s ";
    case ExprOp::kAnd: return " & ";
    case ExprOp::kOr: return " | ";
    case ExprOp::kXor: return " ^ ";
    case ExprOp::kNot: return "~";
    case ExprOp::kNeg: return "-";
    case ExprOp::kShl: return " << ";
    case ExprOp::kLShr: return " >>u ";
    case ExprOp::kAShr: return " >>s ";
    case ExprOp::kEq: return " == ";
    case ExprOp::kUlt: return " <u ";
    case ExprOp::kUle: return " <=u ";
    case ExprOp::kSlt: return " <s ";
    case ExprOp::kSle: return " <=s ";
    case ExprOp::kConcat: return " ++ ";
    case ExprOp::kIte: return "if";
    case ExprOp::kZext: return "u";
    case ExprOp::kSext: return "s";
    case ExprOp::kConstant:
    case ExprOp::kVariable:
    case ExprOp::kExtract: return "";
  }
  return "";
}

// Small negative numbers as such; what is large, and therefore likely an address or a mask, in hexadecimal.
std::string constant_text(std::uint64_t value, unsigned width) {
  const auto number = static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
  if (width > 1 && number < 0 && number >= -65536) {
    return std::to_string(number);
  }
  if (value <= 0xffffff) {
    return std::to_string(value);
  }
  std::string digits;
  for (; value != 0; value >>= 4) {
    digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
  }
  return "0x" + digits;
}

class Writer {
 public:
  Writer(const ExprTable& table, std::span<const std::string> names) : table_(table), names_(names) {}

  void write(ExprId e, bool outermost = true) {
    if (depth_ >= kDeepest || text_.size() >= kLongest) {
      text_ += "...";
      return;
    }
    ++depth_;
    write_whole(e, outermost);
    --depth_;
  }
  std::string take() { return std::move(text_); }

 private:
  void write_whole(ExprId e, bool outermost) {
    const ExprOp op = table_.op(e);
    switch (op) {
      case ExprOp::kConstant: text_ += constant_text(table_.constant_value(e), table_.width(e)); return;
      case ExprOp::kVariable: {
        const std::uint32_t number = table_.variable_number(e);
        text_ += number < names_.size() && !names_[number].empty() ? names_[number] : "x" + std::to_string(number);
        return;
      }
      case ExprOp::kIte: call(e, "if", 3); return;
      case ExprOp::kZext:
      case ExprOp::kSext: call(e, symbol(op) + std::to_string(table_.width(e)), 1); return;
      case ExprOp::kNot:
      case ExprOp::kNeg:
        text_ += symbol(op);
        write(table_.operand(e, 0), false);
        return;
      case ExprOp::kExtract: {
        const unsigned low = table_.extract_low(e);
        write(table_.operand(e, 0), false);
        text_ += "[" + std::to_string(low + table_.width(e) - 1) + ":" + std::to_string(low) + "]";
        return;
      }
      default: break;
    }
    text_ += outermost ? "" : "(";
    write(table_.operand(e, 0), false);
    text_ += symbol(op);
    write(table_.operand(e, 1), false);
    text_ += outermost ? "" : ")";
  }

  void call(ExprId e, const std::string& name, unsigned operands) {
    text_ += name + "(";
    for (unsigned i = 0; i < operands; ++i) {
      text_ += i == 0 ? "" : ", ";
      write(table_.operand(e, i));
    }
    text_ += ")";
  }

  const ExprTable& table_;
  const std::span<const std::string> names_;
  std::string text_;
  unsigned depth_ = 0;
};

}  // namespace

std::string ExprTable::to_string(ExprId e, std::span<const std::string> names) const {
  Writer writer(*this, names);
  writer.write(e);
  return writer.take();
}

}  // namespace sooth
