#include "run/confirm_findings.h"

#include <mutex>
#include <set>
#include <sstream>

#include "base/fnv1a.h"
#include "base/text.h"
#include "confirm/shell_words.h"
#include "report/baseline.h"
#include "report/files.h"
#include "report/group.h"
#include "report/sink.h"
#include "report/suppressions.h"
#include "run/failure_findings.h"

namespace sooth {
namespace {

// Equal for campaigns that try the same things in the same way.
std::string name_of_campaign(const Report& report, const std::set<std::string>& ids, const ConfirmOptions& options) {
  Report plain = report;
  plain.shard.reset();
  SinkOptions how;
  how.deterministic = true;
  std::ostringstream text;
  // Any report can be expressed as JSON.
  (void)write_json(plain, how, text);
  for (const std::string& id : ids) {
    text << " " << id;
  }
  const CampaignOptions& campaign = options.campaign;
  text << " " << campaign.seed << " " << campaign.trials << " " << campaign.all_trials << " " << campaign.baseline_runs;
  return hex_digits(fnv1a(text.str()), 16);
}

}  // namespace

Result<std::set<std::string>> wanted_ids(const Report& report, const ConfirmJob& job) {
  Suppressions suppressions;
  for (const std::string& path : job.suppressions) {
    SOOTH_RETURN_IF_ERROR(suppressions.read(path));
  }
  Report left = report;
  suppressions.apply(left);
  if (!job.baseline.empty()) {
    SOOTH_RETURN_IF_ERROR(apply_baseline(left, job.baseline));
  }
  std::set<std::string> ids;
  for (const Finding& finding : left.findings) {
    if (!finding.known && !job.skip.contains(finding.id)) {
      ids.insert(finding.id);
    }
  }
  return ids;
}

void count_run(const RunOutcome& run, ControlCounts& counts) {
  ++counts.runs;
  counts.truncated += run.log.truncated ? 1 : 0;
  for (const ProcessLog& process : run.log.processes) {
    if (process.external > 0) {
      ++counts.external;
      return;
    }
  }
}

Result<ConfirmResult> confirm_findings(Report& report, const ControlledProgram& program, const WorkLimit& limit,
                                       ConfirmJob job) {
  Result<std::set<std::string>> ids = wanted_ids(report, job);
  if (!ids.ok()) {
    return std::move(ids).status();
  }
  const std::string campaign = name_of_campaign(report, *ids, job.options);
  std::uint64_t runs = 0, done = 0, all = 0;
  ConfirmOptions& options = job.options;
  options.wanted = [&](const Finding& finding) { return ids->contains(finding.id); };
  options.on_finding = [&](std::uint64_t finding, std::uint64_t of) { done = finding, all = of; };
  options.campaign.cancelled = [&] { return limit.reached(); };
  options.campaign.on_run = [&] {
    ++runs;
    if (job.progress) {
      job.progress(runs, done, all);
    }
  };
  FailureLog failures(program.path());
  options.campaign.on_outcome = [&](const RunPlan& plan, const RunOutcome& outcome) { failures.add(plan, outcome); };
  ControlledRunOptions how;
  how.timeout = job.timeout;
  how.max_output = 64 << 10;
  how.cancel = &WorkLimit::interrupt();
  how.give_up_at = limit.end();
  ConfirmResult result;
  std::mutex mutex;  // of result.control
  const auto run = [&](const RunPlan& plan) {
    Result<RunOutcome> outcome = program.run(plan, how);
    if (outcome.ok() && !outcome->cancelled) {
      const std::lock_guard<std::mutex> guard(mutex);
      count_run(*outcome, result.control);
    }
    return outcome;
  };
  const Result<ConfirmCounts> counts =
      confirm_report(report, program.words(), job.in_started_program ? "" : program.path(), run, options);
  if (!counts.ok()) {
    return counts.status();
  }
  result.counts = *counts;
  report.shard.reset();
  if (options.shards > 1) {
    report.shard = ShardOfCampaign{options.shard, options.shards, campaign, counts->chosen};
  }
  FailureTally tally;
  failures.move_to(tally, shell_words(program.words()), options.report_name);
  tally.move_to(report);  // also for the order: what moved up comes first
  return result;
}

Status store_report(const Report& report, const std::string& path, std::string_view version, bool deterministic) {
  SinkOptions how;
  how.version = version;
  how.deterministic = deterministic;
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(write_json(report, how, text));
  return write_whole_file(path, text.str(), NewFile::kForOwner);
}

}  // namespace sooth
