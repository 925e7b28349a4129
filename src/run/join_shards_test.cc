#include "run/join_shards.h"

#include <gtest/gtest.h>

#include <string>

#include "run/merge_reports.h"

namespace sooth {
namespace {

Report base() {
  Report report;
  report.trace = "t";
  for (const char* id : {"a", "b", "c"}) {
    Finding& finding = report.findings.emplace_back();
    finding.id = id;
    finding.rung = Rung::kPredicted;
    finding.dynamic_pairs = 3;
    finding.accesses.resize(2);
  }
  report.stats.events = 100;
  report.add_gap(GapKind::kLibrary, "libfoo.so");
  return report;
}

// The report with the answers to these findings.
Report answered(const std::vector<std::string>& ids) {
  Report report = base();
  for (Finding& finding : report.findings) {
    if (std::find(ids.begin(), ids.end(), finding.id) != ids.end()) {
      finding.rung = finding.id == "c" ? Rung::kHarmful : finding.rung;
      finding.replay.emplace().trials = 10;
    }
  }
  return report;
}

Report shard(std::uint32_t index, const std::vector<std::string>& ids) {
  Report report = answered(ids);
  report.shard = ShardOfCampaign{index, 2, "x", ids};
  return report;
}

TEST(JoinShards, IsTheReportWithoutShards) {
  Report whole = answered({"a", "b", "c"});
  whole = merge_reports({whole});  // in its order
  const Report joined = merge_reports({shard(2, {"b"}), shard(1, {"a", "c"})});
  EXPECT_EQ(joined, whole);
  EXPECT_EQ(joined.findings.front().id, "c");
  EXPECT_EQ(joined.findings.front().dynamic_pairs, 3u);  // of one trace, not of two
}

TEST(JoinShards, OneThatIsMissingIsTold) {
  const Report joined = merge_reports({shard(1, {"a", "c"}), shard(1, {"a", "c"})});
  EXPECT_FALSE(joined.findings.back().replay.has_value());
  ASSERT_EQ(joined.not_covered.size(), 2u);
  EXPECT_EQ(joined.not_covered.back().kind, GapKind::kTrials);
  EXPECT_NE(joined.not_covered.back().text.find("Shard 2 of 2 is missing"), std::string::npos);
}

TEST(JoinShards, OthersStayAsTheyAre) {
  const std::vector<Report> joined = join_shards({base(), shard(1, {"a", "c"}), shard(2, {"b"})});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0], base());
  EXPECT_FALSE(joined[1].shard.has_value());
}

}  // namespace
}  // namespace sooth
