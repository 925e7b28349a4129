// What reader and writer of STD text (docs/std-format.md) must agree on: the words, the numbers, the escapes, and
// which numbers names stand for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/batch.h"
#include "trace/event.h"

namespace sooth {

// One word of the second field. Atomics and fences may carry a memory order behind a dot (takes_order), and a misuse
// carries its kind there.
struct StdOp {
  std::string_view name;
  Op op;
  std::uint8_t flags;
};

// Every word, each pair of (op, flags) once.
std::span<const StdOp> std_ops();
// The word for an event; nullptr when no word stands for this pair.
const StdOp* find_std_op(Op op, std::uint8_t flags);
constexpr bool takes_order(Op op) { return is_atomic(op) || op == Op::kFence; }

inline constexpr std::string_view kStdBranch = "branch";       // the one word that is no event
inline constexpr std::string_view kStdDirective = "# sooth:";  // opens a comment that means something

// A side column and its word in the directive that tells what a trace has.
struct StdColumn {
  std::string_view name;
  ColumnSet column;
};
std::span<const StdColumn> std_columns();
// kNoColumns when there is no such word.
ColumnSet std_column(std::string_view name);

// Variables that are only known by name live here, eight bytes apart and one byte long: above the addresses that
// Linux gives to programs, so that named and numbered memory can meet in one file.
inline constexpr std::uint64_t kNamedMemoryBegin = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kNamedMemoryEnd = std::uint64_t{1} << 49;
inline constexpr std::uint64_t kNamedMemoryStride = 8;
// Whether these bytes stand for a variable that is only known by name: its address and size then mean nothing.
constexpr bool is_named_memory(std::uint64_t address, std::uint64_t size) {
  return address >= kNamedMemoryBegin && address < kNamedMemoryEnd && address % kNamedMemoryStride == 0 && size == 1;
}

inline constexpr std::uint8_t kMaxValueBytes = 16;

// Bytes that the value of an access may take: those of the access or, for a variable only known by name, all that lie
// between it and the next such variable: the name says nothing about how many bytes it has.
std::uint64_t value_extent(const Event& event);
// Bytes of a value whose length is not written.
std::uint8_t std_value_size(const Event& event);

// Numbers the names of one kind of object: 1, 2, 3, ... or, for memory, from kNamedMemoryBegin on. Numbers that stand
// in the file as such must stay clear of these; reader and writer both ask this class, so that the writer knows what
// the reader will do.
class NameNumbering {
 public:
  explicit NameNumbering(ObjectKind kind);

  // The number that the next new name will get, or nothing when a written number is in its way.
  std::optional<std::uint64_t> next() const;
  void take() { next_ += stride_; }
  // Notes that `length` numbers from `begin` on are written as such. False, without a change, when a name stands
  // for one of them.
  bool write_number(std::uint64_t begin, std::uint64_t length);
  // Whether some name already stands for this number.
  bool is_named(std::uint64_t number) const;

 private:
  std::uint64_t first_;
  std::uint64_t stride_;
  std::uint64_t next_;
  std::uint64_t lowest_written_ = std::numeric_limits<std::uint64_t>::max();
};

// Where a name stands decides what must be escaped in it.
enum class StdPlace : std::uint8_t { kThread, kLabel, kArgument };

// The name as it stands in the file, and back. Unescaping takes everything that is no %XX as it is, so
// unescape(escape(s)) == s for all s.
std::string escape_std(std::string_view name, StdPlace place);
std::string unescape_std(std::string_view text);

// A number in decimal, or in hexadecimal behind 0x; up to 64 bits. Nothing else around it.
std::optional<std::uint64_t> parse_number(std::string_view text);
// The hexadecimal digits behind a 0x; up to 64 bits.
std::optional<std::uint64_t> parse_hex(std::string_view digits);
std::optional<std::uint64_t> parse_decimal(std::string_view digits);
// "=7", "=0x1234:4" without the '='. `default_size` is the size when none is written.
std::optional<Value> parse_value(std::string_view text, std::uint8_t default_size);
// No value byte lies beyond its size, and the size is one that exists.
bool fits_its_size(const Value& value);

void append_decimal(std::string& out, std::uint64_t number);
void append_hex(std::string& out, std::uint64_t number);  // with 0x
// Small numbers in decimal, others in hexadecimal.
void append_number(std::string& out, std::uint64_t number);
void append_value(std::string& out, const Value& value, std::uint8_t default_size);

// Text of the file as it may stand in an error: printable and not too long, in backquotes.
std::string quote(std::string_view text);

}  // namespace sooth
