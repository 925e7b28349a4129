// What the memory of one thread holds, byte by byte.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "smt/expr.h"

namespace sooth {

struct Byte {
  ExprId expr = kNoExpr;  // of which this is byte number `part`; kNoExpr: always `value`
  std::uint8_t part = 0;
  std::uint8_t value = 0;
  bool is_known = false;
};

// Bytes, lowest first, put together: at most 8 of them. `value` is what they were in the recorded run. kNoExpr:
// constant.
struct Assembled {
  std::uint64_t value = 0;
  ExprId expr = kNoExpr;
  bool is_known = false;  // false: some byte is not
};
Assembled assemble(ExprTable& table, std::span<const Byte> bytes);
// The other way round: `expr`, of 8 * bytes.size() bits or kNoExpr, and its value.
void take_apart(std::uint64_t value, ExprId expr, std::span<Byte> bytes);

// Expressions are always kept, constants only if asked for: on the recorded path they are in the trace.
class ByteMemory {
 public:
  explicit ByteMemory(bool keep_constants) : keep_constants_(keep_constants) {}

  void store(std::uint64_t address, std::span<const Byte> bytes);
  void load(std::uint64_t address, std::span<Byte> bytes) const;
  bool has_expressions(std::uint64_t address, std::uint64_t size) const;
  bool has_expressions() const { return !symbolic_.empty(); }
  // Nothing is known of these bytes any more. O(size) and O(n log n) in what is kept, whichever is less.
  void forget(std::uint64_t address, std::uint64_t size);
  // Calls visit(expression of some bits, its value) for what the bytes hold, in ascending order of addresses, and keeps
  // the value only.
  using Visit = std::function<void(ExprId, std::uint64_t)>;
  void make_constant(ExprTable& table, std::uint64_t address, std::uint64_t size, const Visit& visit);
  void make_all_constant(ExprTable& table, const Visit& visit);
  // What [from, from + size) holds is then also in [to, to + size); they may overlap.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t size);

 private:
  static constexpr std::uint64_t kGranule = 8;
  struct Symbols {
    ExprId expr[kGranule] = {};
    std::uint8_t part[kGranule] = {};
    std::uint8_t value[kGranule] = {};
  };
  struct Constants {
    std::uint8_t value[kGranule] = {};
    std::uint8_t known = 0;  // bit i: byte i
  };

  void put(std::uint64_t address, const Byte& byte);
  void erase(std::uint64_t address, std::uint64_t size);
  // Granules that lie wholly in a range.
  template <typename T>
  static void erase_whole(FlatMap<T>& map, std::uint64_t first, std::uint64_t last);

  const bool keep_constants_;
  FlatMap<Symbols> symbolic_;     // by address / kGranule; none without an expression
  FlatMap<Constants> constants_;  // as above
};

}  // namespace sooth
