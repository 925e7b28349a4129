#include "race/hand_over.h"

#include "base/names.h"

namespace sooth {

std::string_view hand_over_verdict_name(HandOverVerdict verdict) {
  switch (verdict) {
    case HandOverVerdict::kUnclear: return "unclear";
    case HandOverVerdict::kRecognised: return "recognised";
    case HandOverVerdict::kContradicted: return "contradicted";
  }
  return "unknown";
}

std::optional<HandOverVerdict> hand_over_verdict_from_name(std::string_view name) {
  return named(name, 0, kHandOverVerdictCount, hand_over_verdict_name);
}

void merge_hand_over(HandOver& into, const HandOver& other) {
  const std::uint64_t pairs = into.pairs + other.pairs;
  if (into.verdict < other.verdict) {
    into = other;
  }
  into.pairs = pairs;
}

}  // namespace sooth
