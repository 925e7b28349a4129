#include "run/suite_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "launch/private_directory.h"
#include "report/sink.h"

namespace sooth {
namespace {

SuitePlan two_tests() {
  return {.options = {},
          .environment = {},
          .tests = {{"a", {"./a"}, "/", {}}, {"b", {"./b"}, "/", {}}},
          .schedules = suite_schedules(2, 1)};
}

Report one_race() {
  Finding finding;
  finding.id = "a";
  finding.rung = Rung::kPredicted;
  finding.accesses.resize(2);
  finding.conflicts = {"read/write"};
  Report report;
  report.findings = {finding};
  return report;
}

class SuiteWork : public ::testing::Test {
 protected:
  std::string folder() const { return scratch_->path() + "/campaign"; }

  static void leave_result(const SuiteFolder& folder, std::uint64_t unit, const Report& report) {
    std::ostringstream text;
    ASSERT_TRUE(write_json(report, {}, text).ok());
    std::ofstream(folder.report_path(unit)) << text.str();
  }

  Result<PrivateDirectory> scratch_ = PrivateDirectory::create(1);
};

TEST_F(SuiteWork, GoesOnWithTheSamePlanAndRefusesAnother) {
  ASSERT_TRUE(SuiteFolder::create(folder(), two_tests()).ok());
  EXPECT_TRUE(SuiteFolder::create(folder(), two_tests()).ok());
  SuitePlan other = two_tests();
  other.schedules.pop_back();
  EXPECT_FALSE(SuiteFolder::create(folder(), other).ok());
  const Result<SuiteFolder> opened = SuiteFolder::open(folder());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->plan(), two_tests());
  EXPECT_FALSE(SuiteFolder::open(folder() + "/nowhere").ok());
}

TEST_F(SuiteWork, TellsWhatIsMissing) {
  const Result<SuiteFolder> made = SuiteFolder::create(folder(), two_tests());
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(merge_units(*made).ok());  // nothing is there yet
  leave_result(*made, 2, {});
  EXPECT_EQ(made->missing(), (std::vector<std::uint64_t>{1, 3, 4}));
  const Result<Report> merged = merge_units(*made);
  ASSERT_TRUE(merged.ok());
  ASSERT_FALSE(merged->not_covered.empty());
  EXPECT_EQ(merged->not_covered.back().text, "3 of 4 units have no result: 1,3-4.");
}

TEST_F(SuiteWork, NamesTheUnitsOfEachFinding) {
  const Result<SuiteFolder> made = SuiteFolder::create(folder(), two_tests());
  ASSERT_TRUE(made.ok());
  for (const std::uint64_t unit : {1, 2, 3, 4}) {
    leave_result(*made, unit, unit == 2 ? Report{} : one_race());
  }
  const Result<Report> merged = merge_units(*made);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->findings.size(), 1u);
  EXPECT_EQ(merged->findings.front().reports,
            (std::vector<std::string>{"a (random, seed 2)", "a (serial, seed 1)", "b (random, seed 2)"}));
}

TEST_F(SuiteWork, FailsForAUnitThatIsNoReport) {
  const Result<SuiteFolder> made = SuiteFolder::create(folder(), two_tests());
  ASSERT_TRUE(made.ok());
  std::ofstream(made->report_path(1)) << "half a rep";
  const Result<Report> merged = merge_units(*made);
  ASSERT_FALSE(merged.ok());
  EXPECT_NE(merged.status().message().find("units/1.json"), std::string::npos);
}

TEST(SuiteWorkers, BeginAtDifferentPlacesAndLeaveNothingOut) {
  const std::vector<std::uint64_t> all = {1, 2, 5, 6, 9};
  bool differ = false;
  for (std::uint64_t worker = 1; worker < 20; ++worker) {
    std::vector<std::uint64_t> mine = from_a_place_of_ones_own(all, worker);
    differ = differ || mine.front() != all.front();
    std::sort(mine.begin(), mine.end());
    EXPECT_EQ(mine, all);
  }
  EXPECT_TRUE(differ);
  EXPECT_TRUE(from_a_place_of_ones_own({}, 1).empty());
}

}  // namespace
}  // namespace sooth
