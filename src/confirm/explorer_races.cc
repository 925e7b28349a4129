#include "confirm/explorer_races.h"

#include <algorithm>

#include "confirm/site_code.h"

namespace sooth {
namespace {

SiteCode site_of(const ExploredStep& step, std::uint32_t sites) {
  SiteCode site;
  site.module = step.module;
  site.begin = step.offset;
  site.end = step.offset + 1;
  site.sites = sites;
  site.kinds = access_kinds(step.op);
  return site;
}

}  // namespace

std::vector<Meeting> meetings_in(const Execution& execution) {
  std::vector<Meeting> meetings;
  for (std::size_t i = 0; i < execution.points.size(); ++i) {
    const ExploredPoint& point = execution.points[i];
    if (!point.is_fresh || point.from >= point.pending.size() || (point.ready >> point.from & 1) == 0) {
      continue;
    }
    for (std::uint32_t other = 0; other < point.pending.size(); ++other) {
      if (other != point.from && (point.ready >> other & 1) != 0 && point.pending[other] != nullptr &&
          are_conflicting(*point.pending[point.from], *point.pending[other])) {
        meetings.push_back({i, point.from, other});
      }
    }
  }
  return meetings;
}

RunPlan plan_of_meeting(const Meeting& meeting, const Execution& execution, const RunLog& log) {
  const ExploredStep& here = meeting.here_step(execution);
  const ExploredStep& other = meeting.other_step(execution);
  RunPlan plan;
  plan.plan = control::Plan::kStretches;
  plan.flags = control::kEveryAccess | control::kEveryFree;
  if (here.is_at(other) && here.op == other.op) {
    plan.sites = {site_of(here, 3)};
  } else {
    plan.sites = {site_of(other, 1), site_of(here, 2)};
  }
  const ProcessLog& process = log.processes.front();
  plan.threads = process.threads;
  const auto count = std::min<std::size_t>(execution.points[meeting.point].stretches, process.stretches.size());
  plan.stretches.assign(process.stretches.begin(), process.stretches.begin() + static_cast<std::ptrdiff_t>(count));
  const auto stopped = std::find_if(plan.stretches.rbegin(), plan.stretches.rend(),
                                    [&](const control::Stretch& each) { return each.thread == meeting.other; });
  if (stopped != plan.stretches.rend()) {
    stopped->end = control::StretchEnd::kPostponed;
  }
  plan.stretches.push_back({meeting.here, control::StretchEnd::kPostponed, here.events, here.accesses, 0, 0});
  return plan;
}

}  // namespace sooth
