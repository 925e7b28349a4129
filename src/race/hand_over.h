// What an analysis of hand-overs says of a suspicion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/tables.h"

namespace sooth {

enum class HandOverVerdict : std::uint8_t {
  kUnclear,       // what was seen does not tell
  kRecognised,    // whenever it was seen, the order of the accesses came from something that was handed over
  kContradicted,  // it was seen without
};
inline constexpr int kHandOverVerdictCount = 3;
std::string_view hand_over_verdict_name(HandOverVerdict verdict);
std::optional<HandOverVerdict> hand_over_verdict_from_name(std::string_view name);

struct HandOver {
  HandOverVerdict verdict = HandOverVerdict::kUnclear;
  bool by_pointer = false;  // what was read points to what is accessed; else: without it the access did not come
  std::uint64_t pairs = 0;  // of accesses that were looked at
  Site write, read;         // an example
  std::string variable;     // what was written and read there, if it has a name
  std::string lock;         // under this one

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// Both speak of the same two sites, in two runs or two copies of the code.
void merge_hand_over(HandOver& into, const HandOver& other);

}  // namespace sooth
