#include "race/finding.h"

#include <algorithm>

#include "base/names.h"

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

std::optional<Rung> rung_from_name(std::string_view name) { return named(name, 0, kRungCount, rung_name); }

std::string_view finding_kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace: return "race";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kMisuse: return "misuse";
    case FindingKind::kAtomicity: return "atomicity";
    case FindingKind::kCrash: return "crash";
    case FindingKind::kHang: return "hang";
  }
  return "unknown";
}

std::optional<FindingKind> finding_kind_from_name(std::string_view name) {
  return named(name, 0, kFindingKindCount, finding_kind_name);
}

std::optional<MisuseKind> misuse_kind_from_name(std::string_view name) {
  return named(name, 1, kMisuseKindCount, misuse_kind_name);
}

std::string_view gap_kind_name(GapKind kind) {
  switch (kind) {
    case GapKind::kNotExecuted: return "not-executed";
    case GapKind::kExcludedCode: return "excluded-code";
    case GapKind::kLibrary: return "library";
    case GapKind::kRecording: return "recording";
    case GapKind::kWindow: return "window";
    case GapKind::kUnknown: return "unknown";
    case GapKind::kBudget: return "budget";
    case GapKind::kTrials: return "trials";
    case GapKind::kControl: return "control";
  }
  return "unknown";
}

std::optional<GapKind> gap_kind_from_name(std::string_view name) {
  return named(name, 0, kGapKindCount, gap_kind_name);
}

void Report::add_gap(GapKind kind, const std::string& text) {
  Gap gap{kind, text};
  if (std::find(not_covered.begin(), not_covered.end(), gap) != not_covered.end()) {
    return;
  }
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) {
    notes.push_back(text);
  }
  const auto behind =
      std::find_if(not_covered.begin(), not_covered.end(), [&](const Gap& each) { return each.kind > kind; });
  not_covered.insert(behind, std::move(gap));
}

std::string_view memory_kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kGlobal: return "global";
    case MemoryKind::kHeap: return "heap";
    case MemoryKind::kStack: return "stack";
  }
  return "unknown";
}

std::optional<MemoryKind> memory_kind_from_name(std::string_view name) {
  return named(name, 0, kMemoryKindCount, memory_kind_name);
}

}  // namespace sooth
