#include "confirm/confirm_report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "symbol/symbol_testing.h"

namespace sooth {
namespace {

// A report of a program whose places are instructions without lines, so no compiler is needed: one race per pair of
// offsets.
Finding race_at(std::string id, std::uint64_t first, std::uint64_t second) {
  Finding finding;
  finding.id = std::move(id);
  finding.rung = Rung::kPredicted;
  for (const std::uint64_t offset : {first, second}) {
    Access& access = finding.accesses.emplace_back();
    access.op = Op::kWrite;
    access.site.module = "/was/prog";
    access.site.offset = offset;
  }
  return finding;
}

// Reaches every pair that has the code 0x10.
Result<RunOutcome> reaches_0x10(const RunPlan& plan) {
  RunOutcome run;
  run.log.state = control::RunState::kEnded;
  run.log.processes.resize(1);
  if (plan.plan == control::Plan::kDirected && plan.sites.front().begin == 0x10) {
    RacingThread here{
        .thread = 1, .offset = 0x10, .range = 0, .variable = {}, .bytes = 4, .kinds = control::kWrites, .first = true};
    RacingThread other{
        .thread = 2, .offset = 0x20, .range = 1, .variable = {}, .bytes = 4, .kinds = control::kWrites, .first = false};
    run.log.processes[0].races.push_back({.stretch = 0, .here = here, .others = {other}});
  }
  return run;
}

class ConfirmReportTest : public testing::Test {
 protected:
  void SetUp() override {
    report_.program = "./prog 1";
    report_.findings = {race_at("a", 0x10, 0x20), race_at("b", 0x30, 0x40), race_at("c", 0x10, 0x50)};
    options_.report_name = "my report.json";
  }
  ConfirmCounts confirm(const Campaign::Run& run = reaches_0x10) {
    const Result<ConfirmCounts> counts = confirm_report(report_, {"./prog", "1"}, "/now/prog", run, options_);
    EXPECT_TRUE(counts.ok()) << counts.status().message();
    return counts.ok() ? *counts : ConfirmCounts{};
  }
  std::set<std::string> tried() const {
    std::set<std::string> ids;
    for (const Finding& finding : report_.findings) {
      if (finding.replay.has_value()) {
        ids.insert(finding.id);
      }
    }
    return ids;
  }

  Report report_;
  ConfirmOptions options_;
};

TEST_F(ConfirmReportTest, WhatIsReachedMovesUp) {
  const ConfirmCounts counts = confirm();
  EXPECT_EQ(counts.tried, 3u);
  EXPECT_EQ(counts.reached, 2u);
  EXPECT_EQ(report_.findings[0].rung, Rung::kConfirmed);
  EXPECT_EQ(report_.findings[0].replay->command, "sooth replay 'my report.json#a' -- ./prog 1");
  EXPECT_EQ(report_.findings[1].rung, Rung::kPredicted);
  EXPECT_EQ(report_.findings[1].replay->trials, 100u);
  EXPECT_EQ(report_.findings[1].replay->command, "");
}

TEST_F(ConfirmReportTest, ShardsShareTheWork) {
  options_.shards = 2;
  options_.shard = 1;
  confirm();
  EXPECT_EQ(tried(), (std::set<std::string>{"a", "c"}));
  options_.shard = 2;
  confirm();
  EXPECT_EQ(tried(), (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(ConfirmReportTest, OnlyWhatIsWantedAndNewIsTried) {
  report_.findings[0].known = true;
  report_.findings[2].kind = FindingKind::kMisuse;
  options_.wanted = [](const Finding& finding) { return finding.id != "b"; };
  EXPECT_EQ(confirm().tried, 0u);
}

TEST_F(ConfirmReportTest, NotesTellWhatCouldNotBeTried) {
  report_.findings[0].accesses[0].site = Site{};
  report_.findings[0].accesses[0].site.label = "17";
  report_.findings[1].witness.emplace();
  report_.findings[1].witness->checked = true;
  report_.trace = "/no/such/trace";
  confirm();
  const std::size_t notes = report_.notes.size();
  EXPECT_TRUE(std::any_of(report_.notes.begin(), report_.notes.end(),
                          [](const std::string& note) { return note.starts_with("finding a cannot be tried: "); }));
  EXPECT_TRUE(report_.findings[1].replay->diverged.starts_with("not tried: ")) << report_.findings[1].replay->diverged;
  confirm();
  EXPECT_EQ(report_.notes.size(), notes) << "a second campaign does not say it twice";
}

TEST_F(ConfirmReportTest, WhenTheTimeIsOverTheRestIsCounted) {
  std::atomic<int> runs{0};
  options_.campaign.cancelled = [&] { return runs > 1; };
  const ConfirmCounts counts = confirm([&](const RunPlan& plan) { return ++runs, reaches_0x10(plan); });
  EXPECT_EQ(counts.tried, 2u);
  EXPECT_EQ(counts.untried, 1u);
  EXPECT_EQ(report_.findings[0].rung, Rung::kConfirmed);
}

TEST_F(ConfirmReportTest, AProgramThatCannotRunIsAnError) {
  const auto run = [](const RunPlan&) -> Result<RunOutcome> { return Status::bad_input("no such program"); };
  EXPECT_FALSE(confirm_report(report_, {"./prog"}, "/now/prog", run, options_).ok());
}

}  // namespace
}  // namespace sooth
