// Values that variables may have: those that the recorded run had in the memory they were read from. What cannot be
// told by an expression is computed for each of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "recipe/execute/sharing.h"
#include "smt/expr.h"

namespace sooth {

// Not thread safe.
class Cases {
 public:
  using Initial = std::function<std::optional<std::uint8_t>(std::uint64_t address)>;
  // `recorded` has the recorded value of every variable. All must outlive it.
  Cases(const Sharing& sharing, const ExprTable& table, const std::vector<std::uint64_t>& recorded,
        const Initial& initial)
      : sharing_(sharing), table_(table), recorded_(recorded), initial_(initial) {}

  // The next variable is what is read there.
  void add_variable(std::uint64_t address, std::uint32_t size) { places_.emplace_back(address, size); }

  // Calls visit(values of all variables) for every combination of values of the variables in `exprs`, the recorded one
  // first, until it returns false. False: there are too many of them, and nothing was called.
  using Visit = std::function<bool(std::span<const std::uint64_t> variables)>;
  bool for_each(std::span<const ExprId> exprs, const Visit& visit);
  // Values of the expression that differ from that of the recorded run, each with the variables that make it so.
  struct Other {
    std::uint64_t value = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> variables;  // number and value
  };
  std::vector<Other> others(ExprId expr);

  // Where a variable was read; nothing: not known.
  std::optional<std::pair<std::uint64_t, std::uint32_t>> place(std::uint32_t variable) const;

 private:
  static constexpr std::size_t kMostValues = 8;
  static constexpr std::size_t kMostCombinations = 128;

  // The recorded value first.
  std::vector<std::uint64_t> values(std::uint32_t variable);

  const Sharing& sharing_;
  const ExprTable& table_;
  const std::vector<std::uint64_t>& recorded_;
  const Initial& initial_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places_;                                 // by variable
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<std::uint64_t>> known_values_;  // by place
  std::vector<std::uint64_t> scratch_;  // recorded_, but for a moment
};

}  // namespace sooth
