// What the witness checker knows of memory before all writes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/flat_map.h"
#include "race/witness.h"
#include "race/witness_memory.h"

namespace sooth {

// Reads that saw no write tell what was there at first (docs/semantics.md section 7), where all their records agree.
// Time and memory are linear in the bytes that such reads read.
class FirstBytes {
 public:
  // Of the first `end` events of a trace with values. Accesses for which `is_unclear` holds tell nothing.
  FirstBytes(const TraceView& trace, std::uint32_t end, const std::function<bool(const Event&)>& is_unclear);

  // Of a byte of the stretch, as told() has it; nothing: nobody knows.
  std::optional<std::uint64_t> at(const Stretch& stretch, std::uint32_t byte) const;

  // What a record tells of a byte of its access: the byte, or all of the value of a variable that is known by name only,
  // whose one byte stands for all of it.
  static std::optional<std::uint64_t> told(const Event& access, const Value& value, std::uint32_t byte);

 private:
  struct First {
    std::uint64_t told = 0;
    enum class State : std::uint8_t { kUnknown, kKnown, kInDoubt } state = State::kUnknown;
  };

  std::array<FlatMap<First>, 2> bytes_;  // by Stretch::allocated and address
};

}  // namespace sooth
