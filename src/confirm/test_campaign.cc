#include "confirm/test_campaign.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "confirm/older_values.h"
#include "confirm/ordered_work.h"
#include "confirm/replay.h"

namespace sooth {
namespace {

// Two runs may complain about the same thing in different processes and at different addresses: "==123==", "0x7f00"
// lose their digits.
std::string without_numbers_of_a_run(std::string_view text) {
  const auto skip = [&text](std::size_t at, auto is_part) {
    while (at < text.size() && is_part(static_cast<unsigned char>(text[at]))) {
      ++at;
    }
    return at;
  };
  std::string kept;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t after_process =
        text.substr(i).starts_with("==") ? skip(i + 2, [](int c) { return std::isdigit(c); }) : i;
    const std::size_t after_address =
        text.substr(i).starts_with("0x") ? skip(i + 2, [](int c) { return std::isxdigit(c); }) : i;
    const std::size_t end = std::max(after_process, after_address);
    kept += end > i + 2 ? text.substr(i, 2) : text.substr(i, 1);
    i = end > i + 2 ? end : i + 1;
  }
  return kept;
}

// The places of a deadlock, whichever threads it caught there.
std::string places_of(const ProcessLog& process, CodeNames& names) {
  std::vector<std::string> places;
  for (const BlockedThread& blocked : process.deadlock) {
    const Site site = names.site_of(blocked);
    places.push_back((site.module.empty() ? "a library" : name_of(site)) + " " +
                     std::to_string(static_cast<std::uint64_t>(blocked.on)));
  }
  std::sort(places.begin(), places.end());
  std::string text;
  for (const std::string& place : places) {
    text += place + "\n";
  }
  return text;
}

// Equal for runs that ended in the same way.
std::string key_of(const Outcome& outcome, const RunLog& log, CodeNames& names) {
  std::string key = std::to_string(static_cast<int>(outcome.kind)) + " " + std::to_string(outcome.number) + " ";
  key += outcome.complained ? without_numbers_of_a_run(outcome.last_words) : "";
  const ProcessLog* process = outcome.kind == Outcome::Kind::kDeadlocked ? deadlocked_process(log) : nullptr;
  return key + (process == nullptr ? "" : "\n" + places_of(*process, names));
}

bool plain_exit(const Outcome& outcome) { return outcome.kind == Outcome::Kind::kExited && !outcome.complained; }

}  // namespace

std::string end_key(const RunOutcome& run, CodeNames& names) { return key_of(classify(run), run.log, names); }

TestEnd& TestTally::end_of(const RunPlan& plan, const RunOutcome& run) {
  const Outcome outcome = classify(run);
  const std::string key = key_of(outcome, run.log, names_);
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found != keys_.end()) {
    return result_.ends[static_cast<std::size_t>(found - keys_.begin())];
  }
  keys_.push_back(key);
  TestEnd& end = result_.ends.emplace_back();
  end.key = key;
  end.outcome = outcome;
  end.first_seed = plan.seed;
  end.schedule = schedule_of(plan, run);
  if (const ProcessLog* process = deadlocked_process(run.log)) {
    end.blocked = describe_deadlock(*process, names_);
  }
  if (!run.log.processes.empty()) {
    end.older = describe_older(run.log.processes.front(), names_);
  }
  return end;
}

ScheduleFile TestTally::schedule_of(const RunPlan& plan, const RunOutcome& run) const {
  ScheduleFile schedule = make_schedule(program_, plan, run.log);
  schedule.plan.flags |= flags_;
  schedule.outcome = classify(run).describe();
  return schedule;
}

bool TestTally::add(const RunPlan& plan, const RunOutcome& run) {
  ++result_.runs;
  result_.uncontrolled += run.log.state == control::RunState::kNotStarted ? 1 : 0;
  result_.external += !run.log.processes.empty() && run.log.processes.front().external != 0 ? 1 : 0;
  TestEnd& end = end_of(plan, run);
  ++end.runs;
  bool is_new = end.runs == 1;
  end.delayed += was_delayed(run.log) ? 1 : 0;
  end.weak += !run.log.processes.empty() && !run.log.processes.front().older.empty() ? 1 : 0;
  end.spurious += was_woken_for_no_reason(run.log) ? 1 : 0;
  const auto output = std::find_if(end.outputs.begin(), end.outputs.end(),
                                   [&](const TestOutput& each) { return each.hash == run.output_hash; });
  if (output != end.outputs.end()) {
    ++output->runs;
  } else if (end.outputs.size() < kMaxOutputs) {
    ScheduleFile by_seed;
    by_seed.plan = plan;
    by_seed.plan.flags |= flags_;
    end.outputs.push_back({run.output_hash, 1, plan.seed, name_of_schedule(by_seed)});
    is_new = true;
  }
  return is_new;
}

// Of all ends at most one is the usual exit status.
bool TestTally::has_failure() const {
  return result_.ends.size() > 1 || (result_.ends.size() == 1 && !plain_exit(result_.ends.front().outcome));
}

TestResult TestTally::finish() {
  const TestEnd* usual = nullptr;
  for (const TestEnd& end : result_.ends) {
    if (plain_exit(end.outcome) && (usual == nullptr || end.runs > usual->runs)) {
      usual = &end;
    }
  }
  for (TestEnd& end : result_.ends) {
    end.failure = &end != usual;
  }
  std::stable_sort(result_.ends.begin(), result_.ends.end(), [](const TestEnd& a, const TestEnd& b) {
    const auto place = [](const TestEnd& end) { return !end.failure ? 2 : is_by_delay(end) ? 1 : 0; };
    return place(a) < place(b);
  });
  return std::move(result_);
}

std::uint64_t runs_of_shard(const TestOptions& options) {
  const std::uint64_t skipped = options.shard - 1;
  return options.runs > skipped ? (options.runs - skipped + options.shards - 1) / options.shards : 0;
}

Result<TestResult> run_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run, TestTally& tally,
                             const TestOptions& options) {
  struct Made {
    RunPlan plan;
    Result<RunOutcome> outcome;
  };
  const std::uint64_t skipped = options.shard - 1;
  const std::uint64_t count = runs_of_shard(options);
  const auto work = [&](std::uint64_t i) {
    RunPlan plan;
    plan.strategy = options.strategy;
    plan.seed = options.seed + skipped + i * options.shards;
    Result<RunOutcome> outcome = run(plan);
    return Made{std::move(plan), std::move(outcome)};
  };
  std::optional<Status> error;
  std::uint64_t done = 0;
  const auto take = [&](std::uint64_t, Made&& made) {
    if (!made.outcome.ok()) {
      error = made.outcome.status();
      return false;
    }
    if (made.outcome->cancelled) {
      return false;
    }
    tally.add(made.plan, *made.outcome);
    options.on_run(++done);
    return !(options.until_failure && tally.has_failure());
  };
  do_in_order<Made>(count, options.jobs, work, take, options.cancelled);
  if (error) {
    return *error;
  }
  TestResult result = tally.finish();
  result.planned = count;
  return result;
}

}  // namespace sooth
