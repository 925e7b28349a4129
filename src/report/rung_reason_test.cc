#include "report/rung_reason.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

TEST(RungReasonTest, EveryRungHasItsReason) {
  ReportStats stats;
  for (const auto& [name, guarantee] : {std::pair("lockset", "heuristic"), std::pair("hybrid", "heuristic"),
                                        std::pair("wcp", "sound for the first race"), std::pair("syncp", "sound")}) {
    stats.analyses.emplace_back().name = name;
    stats.analyses.back().guarantee = guarantee;
  }
  Finding finding;
  finding.found_by = {"lockset"};
  EXPECT_EQ(why_on_rung(finding, {}), "no witness has been checked; may be a false alarm");
  EXPECT_EQ(why_on_rung(finding, stats), "lockset is a heuristic; may be a false alarm");
  finding.found_by = {"lockset", "hybrid"};
  EXPECT_EQ(why_on_rung(finding, stats), "lockset and hybrid are heuristics; may be a false alarm");
  finding.found_by = {"lockset", "wcp"};
  EXPECT_EQ(why_on_rung(finding, stats),
            "wcp vouches for the first race of a trace only, and no witness has been checked; may be a false alarm");
  finding.found_by = {"hybrid", "wcp", "syncp"};
  EXPECT_EQ(why_on_rung(finding, stats), "syncp is sound, but no witness has been checked");
  finding.exact = false;
  EXPECT_EQ(why_on_rung(finding, stats), "hybrid is a heuristic; may be a false alarm");
  finding.exact = true;
  finding.witness.emplace();
  finding.witness->why = "out of time";
  EXPECT_EQ(why_on_rung(finding, stats), "syncp is sound, but there is no witness: out of time");
  finding.found_by = {"lockset"};
  EXPECT_EQ(why_on_rung(finding, stats), "there is no witness: out of time; may be a false alarm");
  finding.rung = Rung::kPredicted;
  finding.witness->checked = true;
  EXPECT_EQ(why_on_rung(finding, stats), "the checker accepted a reordering of the recorded run that leads there");
  finding.observed = true;
  EXPECT_EQ(why_on_rung(finding, stats), "unordered by happens-before in the recorded run");
  finding.rung = Rung::kConfirmed;
  EXPECT_EQ(why_on_rung(finding, stats), "a controlled run stopped with both threads about to do it");
  finding.rung = Rung::kHarmful;
  EXPECT_EQ(why_on_rung(finding, stats), "a controlled run reached it, and failed");
  ReplaySummary& replay = finding.replay.emplace();
  replay.outcome = "exit status 0, but it printed \"50\" instead of \"100\"";
  replay.trials = 30;
  replay.hits = 2;
  replay.witness_followed = true;
  replay.witness_repeats = 9;
  replay.failures = 6;
  replay.order_matters = true;
  EXPECT_EQ(
      why_on_rung(finding, stats),
      "10 runs along the witness and 2 of 30 controlled runs stopped with both threads about to do it, and 6 then "
      "printed \"50\" instead of \"100\", as the order of the two decides");
}

}  // namespace
}  // namespace sooth
