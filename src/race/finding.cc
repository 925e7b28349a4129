#include "race/finding.h"

namespace sooth {

std::string_view rung_name(Rung rung) {
  switch (rung) {
    case Rung::kSuspected: return "suspected";
    case Rung::kPredicted: return "predicted";
    case Rung::kConfirmed: return "confirmed";
    case Rung::kHarmful: return "harmful";
  }
  return "unknown";
}

std::optional<Rung> rung_from_name(std::string_view name) {
  for (int i = 0; i < kRungCount; ++i) {
    if (rung_name(Rung(i)) == name) {
      return Rung(i);
    }
  }
  return std::nullopt;
}

std::string_view finding_kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace: return "race";
    case FindingKind::kDeadlock: return "deadlock";
  }
  return "unknown";
}

std::optional<FindingKind> finding_kind_from_name(std::string_view name) {
  for (FindingKind kind : {FindingKind::kRace, FindingKind::kDeadlock}) {
    if (finding_kind_name(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace sooth
