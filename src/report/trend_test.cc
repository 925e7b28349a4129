#include "report/trend.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sooth {
namespace {

Finding finding(const std::string& id, Rung rung) {
  Finding finding;
  finding.id = id;
  finding.rung = rung;
  finding.accesses.resize(2);
  for (Access& access : finding.accesses) {
    access.site.file = "a.cc";
    access.site.line = 3;
  }
  return finding;
}

NamedTrendReport named(const std::string& name, const std::string& date, std::vector<Finding> findings) {
  Report report;
  report.date = date;
  report.findings = std::move(findings);
  return {name, std::move(report)};
}

// Four reports, handed over out of order.
Trend sample() {
  const Rung predicted = Rung::kPredicted, confirmed = Rung::kConfirmed;
  return build_trend(
      {named("c3", "2026-03-01T00:00:00Z", {finding("open", predicted), finding("doubt", Rung::kSuspected)}),
       named("c1", "2026-01-01T00:00:00Z", {finding("back", predicted), finding("gone", predicted)}),
       named("c4", "2026-04-01T00:00:00Z",
             {finding("open", confirmed), finding("back", predicted), finding("new", predicted)}),
       named("c2", "2026-02-01T00:00:00Z", {finding("gone", confirmed)})});
}

TEST(Trend, TellsWhatBecameOfEachFinding) {
  const Trend trend = sample();
  std::string said;
  for (const TrendFinding& each : trend.findings) {
    said += each.id + " is " + std::string(trend_state_name(each.state)) + " " + std::string(rung_name(each.rung)) +
            " " + trend.reports[each.first].name + "-" + trend.reports[each.last].name + "\n";
  }
  EXPECT_EQ(said,
            "new is new predicted c4-c4\n"
            "back is back predicted c1-c4\n"
            "open is open confirmed c3-c4\n"
            "gone is gone confirmed c1-c2\n");
}

TEST(Trend, CountsWhatCameAndWent) {
  std::string said;
  for (const TrendReport& each : sample().reports) {
    said += each.name + " " + std::to_string(each.findings) + " +" + std::to_string(each.added) + " -" +
            std::to_string(each.gone) + "\n";
  }
  EXPECT_EQ(said, "c1 2 +2 -0\nc2 1 +0 -1\nc3 1 +1 -1\nc4 3 +2 -0\n");
}

TEST(Trend, OneReportIsAllNew) {
  const Trend trend = build_trend({named("only", "", {finding("x", Rung::kHarmful)})});
  ASSERT_EQ(trend.findings.size(), 1u);
  EXPECT_EQ(trend.findings.front().state, TrendState::kNew);
  EXPECT_TRUE(build_trend({}).findings.empty());
}

TEST(Trend, ReportsWithoutADateAreInTheOrderOfTheirNames) {
  const Trend trend = build_trend({named("b", "", {}), named("a", "", {})});
  EXPECT_EQ(trend.reports.front().name, "a");
}

TEST(TrendText, EndsWithASum) {
  const std::string text = trend_text(sample());
  EXPECT_NE(text.find("new  a.cc:3: predicted data race"), std::string::npos) << text;
  EXPECT_NE(text.find("[gone], last in c2"), std::string::npos) << text;
  EXPECT_NE(text.find("\n4 reports: 1 new, 1 back, 1 open, 1 gone\n"), std::string::npos) << text;
}

TEST(TrendJson, HasARungForEachReport) {
  const nlohmann::json json = nlohmann::json::parse(trend_json(sample()));
  EXPECT_EQ(json["schema"], kTrendSchema);
  EXPECT_EQ(json["findings"][3]["rungs"], nlohmann::json::parse(R"(["predicted","confirmed",null,null])"));
  EXPECT_EQ(json["reports"][3]["new"], 2);
}

TEST(TrendHtml, NamesAreText) {
  const std::string page = trend_html(build_trend({named("<script>\"", "", {finding("<b>", Rung::kConfirmed)})}));
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;&quot;"), std::string::npos);
}

}  // namespace
}  // namespace sooth
