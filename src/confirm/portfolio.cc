#include "confirm/portfolio.h"

#include <algorithm>
#include <utility>

#include "confirm/directed_tests.h"
#include "schedule/strategy.h"

namespace sooth {
namespace {

// What is new counts so much. An end is what runs are made for.
constexpr double kWorthOfOrder = 4, kWorthOfSchedule = 1, kWorthOfEnd = 16;
// What a round counts once another is over.
constexpr double kForgets = 0.85;

}  // namespace

std::string surw_of(const ProcessLog& process) {
  std::map<std::uint32_t, std::uint32_t> number_of;         // of threads
  std::map<std::uint32_t, const CountedThread*> by_number;  // their last record
  for (const CountedThread& counted : process.counts) {
    number_of[counted.thread] = counted.number;
    by_number[counted.number] = &counted;
  }
  std::string text;
  for (std::uint32_t number = 0; number < kMaxCounted && by_number.contains(number); ++number) {
    const CountedThread& counted = *by_number[number];
    const auto origin = std::find_if(process.threads.begin(), process.threads.end(),
                                     [&](const auto& each) { return each.thread == counted.thread; });
    const auto parent = origin == process.threads.end() ? number_of.end() : number_of.find(origin->parent);
    const std::uint32_t creator = parent == number_of.end() || parent->second >= number ? 0 : parent->second;
    text += (text.empty() ? ":" : ",") + std::to_string(counted.events) +
            (creator == 0 ? "" : "@" + std::to_string(creator));
  }
  return "surw" + text;
}

void Portfolio::add_pair(const PairCode& pair) {
  pairs_.emplace_back().code = pair;
  for (SiteCode site : pair.sites) {
    const bool known = std::any_of(sites_.begin(), sites_.end(), [&](const SiteCode& each) {
      return each.module == site.module && each.begin == site.begin && each.end == site.end && each.kinds == site.kinds;
    });
    if (!known && sites_.size() < kMaxSites && (site.kinds & control::kAcquires) == 0) {
      site.sites = 1;
      sites_.push_back(std::move(site));
    }
  }
}

void Portfolio::add_split(const std::vector<SiteCode>& acquires) {
  Pair& split = pairs_.emplace_back();
  split.code.sites = acquires;
  split.is_split = true;
}

const Portfolio::Pair* Portfolio::open_pair(std::size_t& at) const {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    at = (next_pair_ + i) % pairs_.size();
    if (pairs_[at].hits < kEnoughHits && pairs_[at].planned < (pairs_[at].is_split ? kSplitTrials : kMaxTrials)) {
      return &pairs_[at];
    }
  }
  return nullptr;
}

bool Portfolio::has_use_of(std::size_t arm) const {
  std::size_t at = 0;
  return only_rff_ ? arm == kRff : arm != kDirected || open_pair(at) != nullptr;
}

// Each strategy has one run of the round; the rest go by what a run of it was worth of late, and a little to all: what
// brings nothing now may later.
std::vector<std::size_t> Portfolio::share_out(std::uint64_t runs) const {
  constexpr double kHope = 0.1;
  std::vector<std::size_t> arms;
  std::vector<double> worth(kArms), had(kArms);
  double all = 0;
  for (std::size_t arm = 0; arm < kArms; ++arm) {
    if (has_use_of(arm)) {
      worth[arm] = kHope + (accounts_[arm].recent_worth + 1) / (accounts_[arm].recent_runs + 1);
      all += worth[arm];
      arms.push_back(arm);
      had[arm] = 1;
    }
  }
  while (arms.size() < runs) {
    // Whose share is the farthest from being met.
    std::size_t best = kArms;
    for (std::size_t arm = 0; arm < kArms; ++arm) {
      if (worth[arm] > 0 && (best == kArms || worth[arm] / had[arm] > worth[best] / had[best])) {
        best = arm;
      }
    }
    arms.push_back(best);
    had[best] += 1;
  }
  arms.resize(std::min<std::size_t>(arms.size(), runs));
  return arms;
}

Portfolio::Planned Portfolio::plan_of(std::size_t arm) {
  Planned planned;
  planned.arm = arm;
  RunPlan& plan = planned.plan;
  switch (arm) {
    case kRandom: plan.strategy = "random"; break;
    case kPct:
      plan.strategy = runs_ % 2 == 0 ? "pct:3" : "pct:2";
      plan.strategy += steps_ == 0 ? "" : ":" + std::to_string(steps_);
      break;
    case kPos:
      plan.strategy = "pos";
      plan.sites = sites_;
      break;
    case kSurw:
      plan.strategy = surw_;
      plan.sites = sites_;
      break;
    case kRff:
      plan.strategy = fuzzer_.next();
      plan.sites = sites_;
      break;
    case kDirected:
      if (open_pair(planned.pair) == nullptr) {
        return plan_of(kRandom);
      }
      next_pair_ = planned.pair + 1;
      ++pairs_[planned.pair].planned;
      plan.plan = control::Plan::kDirected;
      plan.sites = pairs_[planned.pair].code.sites;
      break;
    default: break;
  }
  return planned;
}

std::vector<Portfolio::Planned> Portfolio::next_round(std::uint64_t most) {
  for (Account& account : accounts_) {
    account.recent_runs *= kForgets;
    account.recent_worth *= kForgets;
  }
  std::vector<Planned> round;
  if (most > 0 && runs_ == 0) {
    round.push_back(plan_of(only_rff_ ? kRff : kSurw));
    return round;
  }
  for (const std::size_t arm : share_out(std::min(most, kRound))) {
    round.push_back(plan_of(arm));
  }
  return round;
}

Portfolio::Planned Portfolio::kept(RunPlan plan) const {
  Planned planned;
  planned.arm = kKept;
  planned.plan = std::move(plan);
  return planned;
}

bool Portfolio::take(const Planned& planned, const RunLog& log, bool is_new_end, bool hit) {
  ++runs_;
  Account& account = accounts_[planned.arm];
  ++account.runs;
  account.recent_runs += 1;
  if (planned.arm == kDirected && planned.plan.plan == control::Plan::kDirected) {
    pairs_[planned.pair].hits += hit ? 1 : 0;
  }
  const bool first_schedule = ++schedules_[log.order_hash] == 1;
  std::uint64_t new_orders = 0;
  if (!log.processes.empty()) {
    for (const SeenOrder& order : log.processes.front().orders) {
      new_orders += orders_.insert(order).second ? 1 : 0;
    }
    fuzzer_.take(planned.plan.strategy, log.processes.front());
    if (planned.arm == kSurw || surw_ == "surw") {
      const std::string measured = surw_of(log.processes.front());
      surw_ = measured.size() > surw_.size() || surw_ == "surw" ? measured : surw_;
    }
  }
  steps_ = std::max<std::uint64_t>(steps_, log.scheduling_points);
  last_new_ = new_orders > 0 ? runs_ : last_new_;
  account.brought += new_orders + (first_schedule ? 1 : 0);
  account.recent_worth += kWorthOfOrder * static_cast<double>(new_orders) + (first_schedule ? kWorthOfSchedule : 0) +
                          (is_new_end ? kWorthOfEnd : 0);
  return is_new_end || new_orders > 0;
}

TestCoverage Portfolio::coverage() const {
  static const char* const kNames[kAccounts] = {"random", "pct", "pos", "surw", "rff", "directed", "kept"};
  TestCoverage coverage;
  coverage.runs = runs_;
  coverage.orders = orders_.size();
  coverage.schedules = schedules_.size();
  coverage.last_new = last_new_;
  for (const auto& [hash, runs] : schedules_) {
    coverage.once += runs == 1 ? 1 : 0;
  }
  for (std::size_t arm = 0; arm < kAccounts; ++arm) {
    if (accounts_[arm].runs > 0) {
      coverage.shares.push_back({kNames[arm], accounts_[arm].runs, accounts_[arm].brought});
    }
  }
  return coverage;
}

}  // namespace sooth
