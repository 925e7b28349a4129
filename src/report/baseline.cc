#include "report/baseline.h"

#include <algorithm>
#include <unordered_set>

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

Status apply_baseline(Report& report, const std::string& path) {
  Result<Report> older = read_report(path);
  if (!older.ok()) {
    return std::move(older).status().prefixed("the baseline");
  }
  mark_known(report, *older);
  return {};
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
