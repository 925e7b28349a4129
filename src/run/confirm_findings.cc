#include "run/confirm_findings.h"

#include <mutex>
#include <set>
#include <sstream>

#include "base/text.h"
#include "report/baseline.h"
#include "report/files.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/sink.h"
#include "report/suppressions.h"

namespace sooth {
namespace {

// The ids of findings that suppressions leave and the baseline does not know.
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

void count(const RunOutcome& run, ControlCounts& counts) {
  ++counts.runs;
  counts.truncated += run.log.truncated ? 1 : 0;
  for (const ProcessLog& process : run.log.processes) {
    if (process.external > 0) {
      ++counts.external;
      return;
    }
  }
}

}  // namespace

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
  ControlledRunOptions how;
  how.timeout = job.timeout;
  how.max_output = 64 << 10;
  how.cancel = &WorkLimit::interrupt();
  ConfirmResult result;
  std::mutex mutex;  // of result.control
  const auto run = [&](const RunPlan& plan) {
    Result<RunOutcome> outcome = program.run(plan, how);
    if (outcome.ok() && !outcome->cancelled) {
      const std::lock_guard<std::mutex> guard(mutex);
      count(*outcome, result.control);
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
  merge_equal_findings(report);  // for the order: what moved up comes first
  return result;
}

Status store_report(const Report& report, const std::string& path, bool deterministic) {
  SinkOptions how;
  how.deterministic = deterministic;
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(write_json(report, how, text));
  return write_whole_file(path, text.str(), NewFile::kForOwner);
}

}  // namespace sooth
