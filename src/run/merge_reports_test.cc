#include "run/merge_reports.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sooth {
namespace {

Finding race(const std::string& id, Rung rung) {
  Finding finding;
  finding.id = id;
  finding.rung = rung;
  finding.found_by = {"wcp"};
  finding.dynamic_pairs = 2;
  finding.distance = 10;
  finding.accesses.resize(2);
  finding.accesses[0].op = Op::kRead;
  finding.accesses[1].op = Op::kWrite;
  finding.conflicts = {"read/write"};
  return finding;
}

Report report(const std::string& trace, std::vector<Finding> findings) {
  Report report;
  report.trace = trace;
  report.program = "./p";
  report.findings = std::move(findings);
  report.notes = {"of all", "of " + trace};
  report.stats.events = 100;
  report.stats.analyses.resize(1);
  report.stats.analyses[0].name = "wcp";
  report.stats.analyses[0].races = report.findings.size();
  return report;
}

ReplaySummary replay(std::uint64_t trials, std::uint64_t hits) {
  ReplaySummary summary;
  summary.trials = trials;
  summary.hits = hits;
  summary.probability = static_cast<double>(hits) / static_cast<double>(trials);
  summary.command = hits > 0 ? "sooth replay r.json#a -- ./p" : "";
  return summary;
}

TEST(MergeReports, OneReportStaysAsItIs) {
  const Report one = report("t", {race("a", Rung::kPredicted), race("b", Rung::kSuspected)});
  EXPECT_EQ(merge_reports({one}), one);
  EXPECT_EQ(merge_reports({one, one, one}), one);
  EXPECT_EQ(merge_reports({}), Report());
}

TEST(MergeReports, TheCourseOfOneRunIsNotThatOfAll) {
  Report a = report("t", {race("a", Rung::kPredicted)}), b = report("u", {}), c = report("v", {});
  a.overview.emplace().slice = 1;
  a.sources = {{"changed.cc", 1}, {"same.cc", 7}};
  b.sources = {{"changed.cc", 2}, {"same.cc", 7}};
  c.sources = {{"changed.cc", 1}, {"other.cc", 9}};
  EXPECT_EQ(merge_reports({a}).overview, a.overview);
  const Report all = merge_reports({a, b, c});
  EXPECT_FALSE(all.overview.has_value());
  EXPECT_EQ(all.sources, (std::vector<SourceFile>{{"other.cc", 9}, {"same.cc", 7}}));
  EXPECT_EQ(merge_reports({c, b, a}), all);
}

TEST(MergeReports, OrderPlaysNoPart) {
  const Report a = report("t", {race("a", Rung::kPredicted), race("b", Rung::kSuspected)});
  const Report b = report("u", {race("b", Rung::kConfirmed), race("c", Rung::kSuspected)});
  const Report c = report("v", {race("a", Rung::kSuspected)});
  const Report all = merge_reports({a, b, c});
  EXPECT_EQ(merge_reports({c, b, a}), all);
  EXPECT_EQ(merge_reports({b, a, c, a, b}), all);
  EXPECT_EQ(merge_reports({all}), all);
}

TEST(MergeReports, HighestRungAndCombinedCounts) {
  Finding low = race("a", Rung::kPredicted);
  low.replay = replay(100, 0);
  Finding high = race("a", Rung::kConfirmed);
  high.found_by = {"hb"};
  high.distance = 20;
  high.replay = replay(50, 15);
  Report first = report("t", {low});
  Report second = report("u", {high});
  second.stats.analyses[0].name = "hb";
  const Report merged = merge_reports({first, second});
  ASSERT_EQ(merged.findings.size(), 1u);
  const Finding& finding = merged.findings[0];
  EXPECT_EQ(finding.rung, Rung::kConfirmed);
  EXPECT_EQ(finding.found_by, (std::vector<std::string>{"hb", "wcp"}));
  EXPECT_EQ(finding.dynamic_pairs, 4u);
  EXPECT_EQ(finding.distance, 10u);
  EXPECT_EQ(finding.replay->command, high.replay->command);
  EXPECT_EQ(finding.replay->trials, 150u);
  EXPECT_EQ(finding.replay->hits, 15u);
  EXPECT_DOUBLE_EQ(finding.replay->probability, 0.1);
  ASSERT_EQ(merged.stats.analyses.size(), 2u);
  EXPECT_EQ(merged.stats.analyses[0].name, "hb");
}

TEST(MergeReports, UnitesWhatIsNotCovered) {
  Report first = report("t", {race("a", Rung::kPredicted)});
  Report second = report("u", {});
  second.exact = false;
  second.incomplete = true;
  second.suppressed = 3;
  const Report merged = merge_reports({first, second});
  EXPECT_EQ(merged.trace, "");
  EXPECT_EQ(merged.program, "./p");
  EXPECT_FALSE(merged.exact);
  EXPECT_TRUE(merged.incomplete);
  EXPECT_EQ(merged.suppressed, 3u);
  EXPECT_EQ(merged.stats.events, 200u);
  EXPECT_EQ(std::multiset<std::string>(merged.notes.begin(), merged.notes.end()),
            (std::multiset<std::string>{"of all", "of t", "of u"}));
}

TEST(NameReplays, SaysWhereTheScheduleIs) {
  Report all =
      report("t", {race("abc", Rung::kConfirmed), race("def", Rung::kConfirmed), race("123", Rung::kConfirmed)});
  for (Finding& finding : all.findings) {
    finding.replay = replay(2, 1);
    finding.replay->schedule = "seed 1";
  }
  all.findings[1].replay->schedule = "";  // redacted
  all.findings[2].replay->command = "sooth replay race-1.schedule -- ./p '#a'";
  name_replays(all, "folder/other.json");
  EXPECT_EQ(all.findings[0].replay->command, "sooth replay folder/other.json#abc -- ./p");
  EXPECT_EQ(all.findings[1].replay->command, "sooth replay r.json#a -- ./p");
  EXPECT_EQ(all.findings[2].replay->command, "sooth replay race-1.schedule -- ./p '#a'");
}

TEST(MergeReports, AScheduleIsKeptWhoeverHasIt) {
  Finding redacted = race("a", Rung::kConfirmed), whole = redacted;
  redacted.replay = whole.replay = replay(2, 1);
  whole.replay->schedule = "seed 1";
  for (const auto& reports : {std::vector{report("t", {redacted}), report("u", {whole})},
                              std::vector{report("t", {whole}), report("u", {redacted})}}) {
    EXPECT_EQ(merge_reports(reports).findings.at(0).replay->schedule, "seed 1");
  }
}

}  // namespace
}  // namespace sooth
