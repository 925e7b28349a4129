#include "trace/text/std_syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace sooth {
namespace {

constexpr StdOp kOps[] = {
    {"r", Op::kRead, 0},
    {"w", Op::kWrite, 0},
    {"acq", Op::kAcquire, 0},
    {"rel", Op::kRelease, 0},
    {"fork", Op::kFork, 0},
    {"join", Op::kJoin, 0},
    {"begin", Op::kBegin, 0},
    {"end", Op::kEnd, 0},
    {"racq", Op::kAcquire, kShared},
    {"rrel", Op::kRelease, kShared},
    {"aload", Op::kAtomicLoad, 0},
    {"astore", Op::kAtomicStore, 0},
    {"armw", Op::kAtomicRmw, 0},
    {"fence", Op::kFence, 0},
    {"notify", Op::kNotify, 0},
    {"wait", Op::kWait, 0},
    {"arrive", Op::kBarrierArrive, 0},
    {"leave", Op::kBarrierLeave, 0},
    {"post", Op::kSemPost, 0},
    {"sem_wait", Op::kSemWait, 0},
    {"alloc", Op::kAlloc, 0},
    {"free", Op::kFree, 0},
    {"hb", Op::kHappensBefore, 0},
    {"ha", Op::kHappensAfter, 0},
    {"enter", Op::kEnter, 0},
    {"exit", Op::kExit, 0},
    {"callbegin", Op::kCallBegin, 0},
    {"callend", Op::kCallEnd, 0},
    {"misuse", Op::kMisuse, 0},
    {"tryacq", Op::kAcquire, kTry},
    {"rtryacq", Op::kAcquire, kTry | kShared},
    {"timedacq", Op::kAcquire, kTimed},
    {"rtimedacq", Op::kAcquire, kTimed | kShared},
    {"tryfail", Op::kAcquireFailed, kTry},
    {"rtryfail", Op::kAcquireFailed, kTry | kShared},
    {"timeout", Op::kAcquireFailed, kTimed},
    {"rtimeout", Op::kAcquireFailed, kTimed | kShared},
    {"notifyone", Op::kCondNotify, 0},
    {"notifyall", Op::kCondNotify, kEverybody},
    {"condwait", Op::kCondWait, 0},
    {"condtimeout", Op::kCondWait, kTimed},
};

constexpr StdColumn kColumns[] = {
    {"values", kValues},
    {"stacks", kStacks},
    {"branches", kBranches},
    {"reaches", kReaches},
};

// Row of kOps by op and flags, so that the writer need not search.
constexpr auto kRows = [] {
  std::array<std::array<const StdOp*, kAllFlags + 1>, kOpCount> rows{};
  for (const StdOp& row : kOps) {
    rows[raw(row.op)][row.flags] = &row;
  }
  return rows;
}();

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool starts_escape(std::string_view text, std::size_t i) {
  return text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

std::optional<std::uint64_t> parse_digits(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return number;
}

void append_digits(std::string& out, std::uint64_t number, int base) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  out.append(digits, end);
}

}  // namespace

std::span<const StdOp> std_ops() { return kOps; }

const StdOp* find_std_op(Op op, std::uint8_t flags) {
  return raw(op) < kOpCount && flags <= kAllFlags ? kRows[raw(op)][flags] : nullptr;
}

std::span<const StdColumn> std_columns() { return kColumns; }

ColumnSet std_column(std::string_view name) {
  for (const StdColumn& row : kColumns) {
    if (row.name == name) {
      return row.column;
    }
  }
  return kNoColumns;
}

std::uint64_t value_extent(const Event& event) {
  return is_named_memory(event.object, event.size) ? kNamedMemoryStride : event.size;
}

std::uint8_t std_value_size(const Event& event) {
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(value_extent(event), kMaxValueBytes));
}

NameNumbering::NameNumbering(ObjectKind kind)
    : first_(kind == ObjectKind::kMemory ? kNamedMemoryBegin : 1),
      stride_(kind == ObjectKind::kMemory ? kNamedMemoryStride : 1),
      next_(first_) {}

std::optional<std::uint64_t> NameNumbering::next() const {
  return lowest_written_ - next_ < stride_ ? std::nullopt : std::optional(next_);
}

bool NameNumbering::write_number(std::uint64_t begin, std::uint64_t length) {
  // Names own [first_, next_), and will own more; lowest_written_ never lies below next_.
  if (begin >= next_) {
    lowest_written_ = std::min(lowest_written_, begin);
    return true;
  }
  const std::uint64_t below_first = begin < first_ ? first_ - begin : 0;
  if (length <= below_first) {
    return true;
  }
  if (next_ != first_) {
    return false;
  }
  lowest_written_ = first_;
  return true;
}

bool NameNumbering::is_named(std::uint64_t number) const {
  return number >= first_ && number < next_ && (number - first_) % stride_ == 0;
}

std::string escape_std(std::string_view name, StdPlace place) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool at_edge = i == 0 || i + 1 == name.size();
    const bool escaped = is_control(c) || c == '|' || starts_escape(name, i) || (c == ' ' && at_edge) ||
                         (i == 0 && c == '#' && place == StdPlace::kThread) ||
                         (i == 0 && place == StdPlace::kArgument && name.starts_with("0x"));
    if (escaped) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescape_std(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_escape(text, i)) {
      out += static_cast<char>(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) { return parse_digits(digits, 16); }

std::optional<std::uint64_t> parse_decimal(std::string_view digits) { return parse_digits(digits, 10); }

std::optional<std::uint64_t> parse_number(std::string_view text) {
  return text.starts_with("0x") ? parse_hex(text.substr(2)) : parse_decimal(text);
}

std::optional<Value> parse_value(std::string_view text, std::uint8_t default_size) {
  Value value{.size = default_size};
  if (const std::size_t colon = text.find(':'); colon != text.npos) {
    const auto size = parse_decimal(text.substr(colon + 1));
    if (!size || *size > kMaxValueBytes) {
      return std::nullopt;
    }
    value.size = static_cast<std::uint8_t>(*size);
    text = text.substr(0, colon);
  }
  if (text.starts_with("0x") && text.size() > 2 + 16) {
    const std::size_t low = text.size() - 16;
    const auto high_half = parse_hex(text.substr(2, low - 2));
    const auto low_half = parse_hex(text.substr(low));
    if (!high_half || !low_half) {
      return std::nullopt;
    }
    value.high = *high_half;
    value.low = *low_half;
  } else if (const auto number = parse_number(text)) {
    value.low = *number;
  } else {
    return std::nullopt;
  }
  return fits_its_size(value) ? std::optional(value) : std::nullopt;
}

bool fits_its_size(const Value& value) {
  const auto fits = [](std::uint64_t half, int bytes) { return bytes >= 8 || half >> (8 * bytes) == 0; };
  return value.size >= 1 && value.size <= kMaxValueBytes && fits(value.low, value.size) &&
         fits(value.high, std::max(value.size - 8, 0));
}

void append_decimal(std::string& out, std::uint64_t number) { append_digits(out, number, 10); }

void append_hex(std::string& out, std::uint64_t number) {
  out += "0x";
  append_digits(out, number, 16);
}

void append_number(std::string& out, std::uint64_t number) {
  if (number < 0x10000) {
    append_decimal(out, number);
  } else {
    append_hex(out, number);
  }
}

void append_value(std::string& out, const Value& value, std::uint8_t default_size) {
  if (value.high == 0) {
    append_number(out, value.low);
  } else {
    append_hex(out, value.high);
    std::string low;
    append_digits(low, value.low, 16);
    out.append(16 - low.size(), '0');
    out += low;
  }
  if (value.size != default_size) {
    out += ':';
    append_decimal(out, value.size);
  }
}

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string out = "`";
  for (const char c : text.substr(0, kLongest)) {
    if (is_control(c) || static_cast<unsigned char>(c) >= 0x80) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  out += text.size() > kLongest ? "...`" : "`";
  return out;
}

}  // namespace sooth
