#include "confirm/replay.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

TEST(ScheduleByName, IsAStrategyAndASeed) {
  const std::optional<ScheduleFile> schedule = schedule_by_name("pct:3:1000@18446744073709551615");
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(schedule->plan.strategy, "pct:3:1000");
  EXPECT_EQ(schedule->plan.seed, ~std::uint64_t{0});
  EXPECT_EQ(name_of_schedule(*schedule), "pct:3:1000@18446744073709551615");
  for (const char* name :
       {"", "random", "random@", "random@x", "random@-1", "random@1 ", "fast@1", "@1", "random@18446744073709551616"}) {
    EXPECT_FALSE(schedule_by_name(name).has_value()) << name;
  }
}

TEST(ScheduleByName, OnlyPlainSchedulesHaveOne) {
  ScheduleFile schedule;
  EXPECT_EQ(name_of_schedule(schedule), "random@1");
  schedule.plan.quantum = 5;
  EXPECT_EQ(name_of_schedule(schedule), "");
  schedule.plan.quantum = 0;
  schedule.plan.plan = control::Plan::kStretches;
  EXPECT_EQ(name_of_schedule(schedule), "");
}

Report sample_report() {
  Report report;
  for (const char* id : {"abc1", "abc2", "abcd", "xyz"}) {
    Finding finding;
    finding.id = id;
    if (finding.id != "xyz") {
      finding.replay.emplace();
      finding.replay->schedule = "sooth schedule 1\n";
    }
    report.findings.push_back(std::move(finding));
  }
  return report;
}

TEST(FindById, TakesAUniqueBeginning) {
  const Report report = sample_report();
  EXPECT_EQ((*find_by_id(report, "abc1", "r"))->id, "abc1");
  EXPECT_EQ((*find_by_id(report, "x", "r"))->id, "xyz");
  EXPECT_EQ(find_by_id(report, "abc", "r").status().message(),
            "r: several findings have an id that begins with `abc`; these can be replayed: abc1, abc2, abcd");
  EXPECT_EQ(find_by_id(report, "q", "r").status().message(),
            "r: no finding has the id `q`; these can be replayed: abc1, abc2, abcd");
  EXPECT_EQ(find_by_id(Report{}, "q", "r").status().message(),
            "r: no finding has the id `q`; none of them can be replayed: `sooth confirm` makes schedules");
}

TEST(DescribeEvents, TellsWhoMetWhomAndWhoWaits) {
  CodeNames names("/dir/prog");
  RunPlan plan;
  plan.sites = {{"", 0x10, 0x20, 1, control::kWrites}, {"/lib/libx.so", 0x30, 0x40, 2, control::kReads}};
  RunLog log;
  log.processes.resize(1);
  log.processes[0].races.assign(
      5, CreatedRace{0,
                     {1, 0x14, 0, std::nullopt, 4, control::kWrites, false},
                     {{2, 0x34, 1, std::nullopt, 1, control::kReads | control::kAtomics, true}}});
  log.processes[0].deadlock = {{1, control::BlockedOn::kMutex, 2, 0x50},
                               {2, control::BlockedOn::kJoin, 1, 0x60},
                               {3, control::BlockedOn::kCondition, control::kNone, 0x70, false}};
  const std::vector<std::string> sentences = describe_events(plan, log, names);
  ASSERT_EQ(sentences.size(), 8u);
  EXPECT_EQ(sentences[0],
            "race created: thread T1 (write of 4 bytes at prog+0x14) and thread T2 (atomic read of 1 byte at "
            "libx.so+0x34); thread T2 went first");
  EXPECT_EQ(sentences[3], "... in all 5 times");
  EXPECT_EQ(sentences[5], "  thread T1 at prog+0x50 waits for a mutex that thread T2 holds");
  EXPECT_EQ(sentences[6], "  thread T2 at prog+0x60 waits for the end of a thread: thread T1");
  EXPECT_EQ(sentences[7], "  thread T3 waits for a condition");
}

}  // namespace
}  // namespace sooth
