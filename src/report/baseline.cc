#include "report/baseline.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "report/group.h"
#include "report/json.h"

namespace sooth {

void mark_known(Report& report, const Report& older) {
  std::unordered_set<std::string> ids;
  for (const Finding& finding : older.findings) {
    if (!finding.id.empty()) {
      ids.insert(finding.id);
    }
  }
  for (Finding& finding : report.findings) {
    finding.known = finding.known || ids.contains(finding.id);
  }
}

Status apply_baseline(Report& report, const std::string& path, const IdentityOptions& identity) {
  Result<Report> older = read_report(path);
  if (!older.ok()) {
    return std::move(older).status().prefixed("the baseline");
  }
  mark_known(report, *older);
  if (older->id_version < kIdVersion) {
    upgrade_ids(*older, identity);
    mark_known(report, *older);
  }
  return {};
}

bool upgrade_ids(Report& report, const IdentityOptions& identity) {
  if (report.id_version >= kIdVersion) {
    return false;
  }
  const bool changed = std::any_of(report.sources.begin(), report.sources.end(),
                                   [](const SourceFile& source) { return !is_unchanged(source); });
  std::vector<std::string> old_ids;
  for (Finding& finding : report.findings) {
    old_ids.push_back(std::exchange(finding.id, ""));
  }
  Identifier(identity).identify(report);
  for (std::size_t i = 0; i < old_ids.size(); ++i) {
    const std::string id = std::exchange(report.findings[i].id, old_ids[i]);
    rename(report.findings[i], id);
  }
  merge_equal_findings(report);
  return changed;
}

Rung rung_for_failing(const Finding& finding) {
  const bool only_a_consistent_order = finding.rung == Rung::kPredicted && !finding.exact && !finding.observed;
  const bool may_be_ordered_unseen = finding.rung < Rung::kConfirmed && !finding.uninstrumented.empty();
  return only_a_consistent_order || may_be_ordered_unseen ? Rung::kSuspected : finding.rung;
}

ExitCode exit_code_for(const Report& report, std::optional<Rung> fail_on) {
  const bool fails =
      fail_on.has_value() && std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        return !finding.known && rung_for_failing(finding) >= *fail_on;
      });
  return fails ? ExitCode::kFindings : ExitCode::kOk;
}

}  // namespace sooth
