#include "report/trend.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "report/describe.h"

namespace sooth {
namespace {

TrendState state_of(const std::vector<std::optional<Rung>>& rungs, std::size_t first) {
  const std::size_t newest = rungs.size() - 1;
  if (!rungs[newest].has_value()) {
    return TrendState::kGone;
  }
  if (first == newest) {
    return TrendState::kNew;
  }
  return rungs[newest - 1].has_value() ? TrendState::kOpen : TrendState::kBack;
}

// Takes the finding of report `column` into its row.
void add_sighting(const Finding& finding, std::size_t column, std::size_t columns, TrendFinding& row) {
  if (row.rungs.empty()) {
    row.id = finding.id;
    row.rungs.resize(columns);
    row.first = column;
    row.rung = finding.rung;
  }
  row.headline = headline(finding);  // as the newest report has it: lines move
  row.place = short_place(primary_access(finding).place());
  row.rung = std::max(row.rung, finding.rung);
  row.last = column;
  row.rungs[column] = std::max(row.rungs[column].value_or(finding.rung), finding.rung);
}

void count_columns(Trend& trend) {
  for (const TrendFinding& row : trend.findings) {
    for (std::size_t i = 0; i < trend.reports.size(); ++i) {
      const bool here = row.rungs[i].has_value(), before = i > 0 && row.rungs[i - 1].has_value();
      trend.reports[i].findings += here ? 1 : 0;
      trend.reports[i].added += here && !before ? 1 : 0;
      trend.reports[i].gone += !here && before ? 1 : 0;
    }
  }
}

}  // namespace

std::string_view trend_state_name(TrendState state) {
  switch (state) {
    case TrendState::kNew: return "new";
    case TrendState::kBack: return "back";
    case TrendState::kOpen: return "open";
    case TrendState::kGone: return "gone";
  }
  return "";
}

Trend build_trend(std::vector<NamedTrendReport> reports) {
  std::stable_sort(reports.begin(), reports.end(), [](const NamedTrendReport& a, const NamedTrendReport& b) {
    return std::tie(a.report.date, a.name) < std::tie(b.report.date, b.name);
  });
  Trend trend;
  std::map<std::string, TrendFinding> rows;  // by id
  for (std::size_t i = 0; i < reports.size(); ++i) {
    trend.reports.push_back({.name = reports[i].name, .date = reports[i].report.date});
    for (const Finding& finding : reports[i].report.findings) {
      add_sighting(finding, i, reports.size(), rows[finding.id]);
    }
  }
  for (auto& [id, row] : rows) {
    if (row.rung > Rung::kSuspected) {
      row.state = state_of(row.rungs, row.first);
      trend.findings.push_back(std::move(row));
    }
  }
  std::stable_sort(trend.findings.begin(), trend.findings.end(), [](const TrendFinding& a, const TrendFinding& b) {
    return std::tuple(a.state, -static_cast<int>(a.rung), a.first) <
           std::tuple(b.state, -static_cast<int>(b.rung), b.first);
  });
  count_columns(trend);
  return trend;
}

}  // namespace sooth
