#include "run/search_runs.h"

#include <algorithm>

namespace sooth {

using Clock = std::chrono::steady_clock;

Result<RunOutcome> SearchRuns::make(const RunPlan& plan, std::chrono::milliseconds timeout) {
  Result<RunOutcome> outcome = make_once(plan, timeout, hangs_.are_ended());
  if (!outcome.ok() || outcome->cancelled || outcome->log.state != control::RunState::kHung) {
    return outcome;
  }
  return hangs_.judge(std::move(*outcome), [&](bool patiently) {
    return make_once(plan, patiently ? job_.confirm.timeout : patience(), false);
  });
}

Result<RunOutcome> SearchRuns::make_once(const RunPlan& plan, std::chrono::milliseconds timeout, bool end_hangs) {
  ControlledRunOptions how;
  how.end_hangs = end_hangs;
  how.timeout = timeout;
  how.max_output = 64 << 10;
  how.cancel = &WorkLimit::interrupt();
  how.give_up_at = limit_.end();
  how.input = job_.input;
  how.isolation = job_.isolation ? &*job_.isolation : nullptr;
  const Clock::time_point start = Clock::now();
  Result<RunOutcome> outcome = program_->run(plan, how);
  if (outcome.ok() && !outcome->cancelled) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!outcome->timed_out) {
      longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start));
      most_points_ = std::max(most_points_, outcome->log.scheduling_points);
    }
    count_run(*outcome, control_);
    note_end(classify(*outcome));
    ++made_;
  }
  return outcome;
}

std::chrono::milliseconds SearchRuns::patience() {
  constexpr std::chrono::milliseconds kLeast(2'000);
  constexpr int kTimesLonger = 50;
  const std::lock_guard<std::mutex> guard(mutex_);
  return std::min(job_.confirm.timeout, std::max(kLeast, kTimesLonger * longest_));
}

bool SearchRuns::is_fair_and_busy(const RunPlan& plan, const RunLog& log) {
  constexpr std::uint64_t kTimesMore = 10;
  if (plan.plan != control::Plan::kStrategy || plan.strategy != "random" || log.processes.size() != 1) {
    return false;
  }
  const ProcessLog& process = log.processes.front();
  const std::lock_guard<std::mutex> guard(mutex_);
  return process.external == 0 && process.let_go == 0 && process.impatient == 0 && process.turns_taken == 0 &&
         log.scheduling_points > kTimesMore * std::max<std::uint64_t>(most_points_, 50);
}

void SearchRuns::note_end(Outcome outcome) {
  outcome.last_words.clear();  // they may differ from run to run
  const std::string end = outcome.describe();
  const auto same = std::find_if(ends_.begin(), ends_.end(), [&](const auto& each) { return each.first == end; });
  if (same == ends_.end()) {
    ends_.emplace_back(end, 1);
  } else {
    ++same->second;
  }
}

}  // namespace sooth
