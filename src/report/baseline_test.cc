#include "report/baseline.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "report/files.h"

namespace sooth {
namespace {

Report with_rung(Rung rung) {
  Report report;
  report.findings.resize(1);
  report.findings[0].id = "1";
  report.findings[0].rung = rung;
  return report;
}

TEST(ExitCodeTest, FailsAtOrAboveTheRung) {
  for (int rung = 0; rung < kRungCount; ++rung) {
    const Report report = with_rung(Rung(rung));
    for (int fail_on = 0; fail_on < kRungCount; ++fail_on) {
      EXPECT_EQ(exit_code_for(report, Rung(fail_on)), rung >= fail_on ? ExitCode::kFindings : ExitCode::kOk);
    }
    EXPECT_EQ(exit_code_for(report, std::nullopt), ExitCode::kOk);
  }
  EXPECT_EQ(exit_code_for(Report(), Rung::kSuspected), ExitCode::kOk);
}

TEST(ExitCodeTest, KnownFindingsDoNotFail) {
  Report report = with_rung(Rung::kHarmful);
  report.findings[0].known = true;
  EXPECT_EQ(exit_code_for(report, Rung::kSuspected), ExitCode::kOk);
  report.findings.push_back(with_rung(Rung::kPredicted).findings[0]);
  EXPECT_EQ(exit_code_for(report, Rung::kPredicted), ExitCode::kFindings);
}

TEST(ExitCodeTest, AWitnessFromATraceThatIsNotExactIsASuspicion) {
  Report report = with_rung(Rung::kPredicted);
  report.findings[0].exact = false;
  EXPECT_EQ(exit_code_for(report, Rung::kPredicted), ExitCode::kOk);
  EXPECT_EQ(exit_code_for(report, Rung::kSuspected), ExitCode::kFindings);
  report.findings[0].observed = true;  // happens-before does not need to know what was read
  EXPECT_EQ(exit_code_for(report, Rung::kPredicted), ExitCode::kFindings);
  report.findings[0].observed = false;
  report.findings[0].rung = Rung::kConfirmed;
  EXPECT_EQ(exit_code_for(report, Rung::kConfirmed), ExitCode::kFindings);
}

TEST(ExitCodeTest, WhatALibraryMayOrderUnseenIsASuspicionUntilItIsConfirmed) {
  Report report = with_rung(Rung::kPredicted);
  report.findings[0].observed = true;
  report.findings[0].uninstrumented = {"libfoo.so"};
  EXPECT_EQ(exit_code_for(report, Rung::kPredicted), ExitCode::kOk);
  EXPECT_EQ(exit_code_for(report, Rung::kSuspected), ExitCode::kFindings);
  report.findings[0].rung = Rung::kConfirmed;
  EXPECT_EQ(exit_code_for(report, Rung::kPredicted), ExitCode::kFindings);
}

TEST(BaselineTest, MarksWhatTheOlderReportHas) {
  Report older = with_rung(Rung::kSuspected);
  Report report = with_rung(Rung::kHarmful);
  report.findings.push_back(report.findings[0]);
  report.findings[1].id = "2";
  mark_known(report, older);
  EXPECT_TRUE(report.findings[0].known);
  EXPECT_FALSE(report.findings[1].known);
}

TEST(BaselineTest, FindingsWithoutAnIdAreNeverKnown) {
  Report older = with_rung(Rung::kSuspected);
  older.findings[0].id.clear();
  Report report = older;
  mark_known(report, older);
  EXPECT_FALSE(report.findings[0].known);
}

TEST(BaselineTest, SaysThatTheBaselineCannotBeRead) {
  Report report;
  const Status status = apply_baseline(report, "/nonexistent.json");
  EXPECT_EQ(status.code(), ExitCode::kBadInput);
  EXPECT_EQ(status.message(), "the baseline: /nonexistent.json: cannot open: No such file or directory");
}

class FilesTest : public testing::Test {
 protected:
  FilesTest() : folder_(std::filesystem::path(testing::TempDir()) / "sooth_files_test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FilesTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ / name; }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  std::filesystem::path folder_;
};

TEST_F(FilesTest, ReplacesAWholeFileAndLeavesNothingElse) {
  ASSERT_TRUE(write_whole_file(path("a"), "first").ok());
  ASSERT_TRUE(write_whole_file(path("a"), std::string("se\0cond", 7)).ok());
  EXPECT_EQ(read_whole_file(path("a")).value(), std::string("se\0cond", 7));
  EXPECT_EQ(files(), 1);
}

TEST_F(FilesTest, FollowsLinksAndKeepsTheMode) {
  ASSERT_TRUE(write_whole_file(path("a"), "first").ok());
  std::filesystem::permissions(path("a"), std::filesystem::perms(0600));
  std::filesystem::create_symlink("a", path("link"));
  ASSERT_TRUE(write_whole_file(path("link"), "second").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(read_whole_file(path("a")).value(), "second");
  EXPECT_EQ(std::filesystem::status(path("a")).permissions(), std::filesystem::perms(0600));
}

TEST_F(FilesTest, WritesToDevicesAndRefusesFolders) {
  EXPECT_TRUE(write_whole_file("/dev/null", "x").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(write_whole_file(folder_, "x").code(), ExitCode::kInternal);
  EXPECT_EQ(write_whole_file(path("no/such/folder"), "x").code(), ExitCode::kInternal);
}

}  // namespace
}  // namespace sooth
