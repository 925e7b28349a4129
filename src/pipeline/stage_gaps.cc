#include "pipeline/stage_gaps.h"

#include "base/text.h"

namespace sooth {

std::string counted(std::uint64_t number, const char* thing) {
  return counted(number, thing, std::string(thing) + "s");
}

std::vector<Gap> stage_gaps(const StageBounds& bounds, const TraceCapture& capture) {
  std::vector<Gap> gaps;
  const std::string name(bounds.name);
  const std::string of = " of " + std::string(bounds.ends) + ": ";
  if (bounds.unknown > 0) {
    gaps.push_back({GapKind::kUnknown,
                    name + " has no answer for " + counted(bounds.unknown, "pair") + of + std::string(bounds.why)});
  }
  if (!bounds.why_not_all.empty()) {
    gaps.push_back({GapKind::kUnknown, name + " has no answer for some pairs" + of + std::string(bounds.why_not_all)});
  }
  if (!capture.whole()) {
    gaps.push_back({GapKind::kWindow,
                    name + " looked at the first " + std::to_string(capture.size()) +
                        (capture.is_projection() ? " events that matter to several threads only" : " events only") +
                        " (--witness-events)."});
  }
  if (bounds.far_pairs > 0) {
    gaps.push_back({GapKind::kWindow, name + " did not look at some accesses of " + counted(bounds.far_pairs, "pair") +
                                          of + "they are further apart than its windows of " +
                                          std::to_string(bounds.window) + " events bring together (--window)."});
  }
  return gaps;
}

}  // namespace sooth
