#include "pipeline/hand_over_stage.h"

#include <algorithm>

#include "predict/hand_over.h"
#include "predict/trace_index.h"

namespace sooth {

void recognise_hand_overs(std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables,
                          const std::function<bool()>& out_of_time) {
  const auto is_open = [](const Claim& claim) {
    return claim.finding.kind == FindingKind::kRace && claim.finding.rung == Rung::kSuspected && claim.finding.exact;
  };
  TraceView view = capture.view(tables);
  StopPoll poll(out_of_time);
  if (view.values.size() != view.events.size() || capture.calls() > 0 ||
      std::none_of(claims.begin(), claims.end(), is_open) || poll.stop(StopPoll::kStride)) {
    return;
  }
  view.branches = {};  // they free reads from what they saw, which is what is asked for here
  const TraceIndex index(view, {}, KeptOrder::kMust);
  HandOvers hand_overs(index, view);
  for (Claim& claim : claims) {
    if (!is_open(claim)) {
      continue;
    }
    const HandOver found = hand_overs.judge(claim.low_site, claim.high_site, poll);
    if (poll.stopped()) {
      return;
    }
    if (found.verdict != HandOverVerdict::kUnclear) {
      claim.finding.hand_over = found;
    }
  }
}

}  // namespace sooth
