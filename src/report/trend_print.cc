// A trend as text, JSON and a page. Finding out is in trend.cc; nothing is decided here.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/describe.h"
#include "report/trend.h"

namespace sooth {
namespace {

using TrendJson = nlohmann::ordered_json;

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped.push_back(c);
    }
  }
  return escaped;
}

std::size_t count_of(const Trend& trend, TrendState state) {
  return static_cast<std::size_t>(std::count_if(trend.findings.begin(), trend.findings.end(),
                                                [&](const TrendFinding& each) { return each.state == state; }));
}

// "2 new, 1 back, 3 open, 4 gone".
std::string summary(const Trend& trend) {
  std::string text;
  for (const TrendState state : {TrendState::kNew, TrendState::kBack, TrendState::kOpen, TrendState::kGone}) {
    text += (text.empty() ? "" : ", ") + std::to_string(count_of(trend, state)) + " " +
            std::string(trend_state_name(state));
  }
  return text;
}

// Since when, or until when: "since 1a2b3c4", "last in 1a2b3c4".
std::string when(const Trend& trend, const TrendFinding& finding) {
  return finding.state == TrendState::kGone ? "last in " + trend.reports[finding.last].name
                                            : "since " + trend.reports[finding.first].name;
}

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #fff; --line: #dde1e8; --text: #1b2230; --quiet: #566074;
  --suspected: #c3ccd9; --predicted: #e5a93b; --confirmed: #d9531e; --harmful: #a60e45; --none: #eef0f4; }
@media (prefers-color-scheme: dark) { :root { --bg: #0f1218; --card: #171b23; --line: #2b3240; --text: #e7eaf0;
  --quiet: #a3adbf; --suspected: #475063; --none: #1f2530; } }
body { margin: 0; padding: 28px; background: var(--bg); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 2px; } p { margin: 0 0 18px; color: var(--quiet); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px; overflow-x: auto; margin-bottom: 18px; }
table { border-collapse: collapse; } th { font-weight: 500; text-align: left; color: var(--quiet); }
td, th { padding: 3px 8px; white-space: nowrap; vertical-align: middle; }
td.what { white-space: normal; min-width: 22em; max-width: 44em; } td.cell, th.cell { padding: 2px; }
.cell i { display: block; width: 20px; height: 20px; border-radius: 4px; background: var(--none); }
.name { writing-mode: vertical-rl; transform: rotate(180deg); max-height: 12em; overflow: hidden; text-overflow: ellipsis; font-size: 12px; }
code { font: 12.5px ui-monospace, "DejaVu Sans Mono", monospace; color: var(--quiet); }
.suspected { background: var(--suspected) !important; } .predicted { background: var(--predicted) !important; }
.confirmed { background: var(--confirmed) !important; } .harmful { background: var(--harmful) !important; }
.state { font-weight: 600; } .gone .what, .gone .state { color: var(--quiet); }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin: 0 5px 0 14px; }
)";

// How many there were in each report: a bar a report.
void write_bars(const Trend& trend, std::ostream& out) {
  std::uint64_t most = 1;
  for (const TrendReport& report : trend.reports) {
    most = std::max(most, report.findings);
  }
  constexpr int kHeight = 120, kStep = 24;
  out << "<svg role=\"img\" aria-label=\"findings in each report\" width=\"" << trend.reports.size() * kStep
      << "\" height=\"" << kHeight + 20 << "\">";
  for (std::size_t i = 0; i < trend.reports.size(); ++i) {
    const TrendReport& report = trend.reports[i];
    const std::uint64_t height = report.findings * kHeight / most;
    out << "<g><title>" << html_text(report.name) << ": " << report.findings << ", " << report.added << " new, "
        << report.gone << " gone</title><rect x=\"" << i * kStep + 2 << "\" y=\"" << kHeight - height + 16
        << "\" width=\"20\" height=\"" << height << "\" rx=\"3\" fill=\"var(--confirmed)\"/><text x=\""
        << i * kStep + 12 << "\" y=\"" << kHeight - height + 12
        << "\" font-size=\"11\" text-anchor=\"middle\" fill=\"currentColor\">" << report.findings << "</text></g>";
  }
  out << "</svg>";
}

void write_row(const TrendFinding& finding, const Trend& trend, std::ostream& out) {
  out << "<tr class=\"" << trend_state_name(finding.state) << "\"><td class=\"state\">"
      << trend_state_name(finding.state) << "</td><td class=\"what\">" << html_text(finding.headline) << "<br><code>"
      << html_text(finding.place) << " [" << html_text(finding.id) << "]</code></td>";
  for (std::size_t i = 0; i < finding.rungs.size(); ++i) {
    const std::string_view rung = finding.rungs[i].has_value() ? rung_name(*finding.rungs[i]) : "";
    out << "<td class=\"cell\"><i" << (rung.empty() ? "" : " class=\"" + std::string(rung) + "\"") << " title=\""
        << html_text(trend.reports[i].name) << ": " << (rung.empty() ? "not seen" : rung) << "\"></i></td>";
  }
  out << "</tr>\n";
}

}  // namespace

std::string trend_text(const Trend& trend) {
  std::ostringstream out;
  for (const TrendFinding& finding : trend.findings) {
    out << trend_state_name(finding.state) << "  " << printable(finding.place) << ": " << rung_name(finding.rung) << " "
        << printable(finding.headline) << " [" << printable(finding.id) << "], " << printable(when(trend, finding))
        << "\n";
  }
  out << (trend.findings.empty() ? "" : "\n") << trend.reports.size()
      << (trend.reports.size() == 1 ? " report: " : " reports: ") << summary(trend) << "\n";
  return out.str();
}

std::string trend_json(const Trend& trend) {
  TrendJson json = {{"schema", kTrendSchema}};
  json["reports"] = TrendJson::array();
  for (const TrendReport& report : trend.reports) {
    json["reports"].push_back({{"name", report.name},
                               {"date", report.date},
                               {"findings", report.findings},
                               {"new", report.added},
                               {"gone", report.gone}});
  }
  json["findings"] = TrendJson::array();
  for (const TrendFinding& finding : trend.findings) {
    TrendJson rungs = TrendJson::array();
    for (const std::optional<Rung>& rung : finding.rungs) {
      rungs.push_back(rung.has_value() ? TrendJson(rung_name(*rung)) : TrendJson());
    }
    json["findings"].push_back({{"id", finding.id},
                                {"state", trend_state_name(finding.state)},
                                {"headline", finding.headline},
                                {"place", finding.place},
                                {"rung", rung_name(finding.rung)},
                                {"first", trend.reports[finding.first].name},
                                {"last", trend.reports[finding.last].name},
                                {"rungs", std::move(rungs)}});
  }
  return json.dump(2, ' ', false, TrendJson::error_handler_t::replace) + "\n";
}

std::string trend_html(const Trend& trend) {
  std::ostringstream out;
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width\"><title>Races over time</title><style>"
      << kStyle << "</style></head>\n<body><h1>Races over time</h1><p>" << trend.reports.size()
      << (trend.reports.size() == 1 ? " report" : " reports") << "; in the newest one " << summary(trend)
      << ". What is gone was not seen again, which is no proof that it is fixed.</p>\n<div class=\"card\">";
  write_bars(trend, out);
  out << "</div>\n<div class=\"card\"><table><tr><th></th><th>finding</th>";
  for (const TrendReport& report : trend.reports) {
    out << "<th class=\"cell\"><div class=\"name\" title=\"" << html_text(report.date) << "\">"
        << html_text(report.name) << "</div></th>";
  }
  out << "</tr>\n";
  for (const TrendFinding& finding : trend.findings) {
    write_row(finding, trend, out);
  }
  out << "</table></div>\n<p class=\"legend\">";
  for (int i = 0; i < kRungCount; ++i) {
    out << "<i class=\"" << rung_name(Rung(i)) << "\"></i>" << rung_name(Rung(i));
  }
  out << "</p></body></html>\n";
  return out.str();
}

}  // namespace sooth
