#include "cli/tsan_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "report/files.h"

namespace sooth {
namespace {

TEST(TsanOptions, ReadsStatusAndWhatMeansNothing) {
  EXPECT_EQ(parse_tsan_options("exitcode=3").exit_code, 3);
  EXPECT_EQ(parse_tsan_options("exitcode=0").exit_code, 0);
  EXPECT_EQ(parse_tsan_options("exitcode=x").exit_code, std::nullopt);
  EXPECT_EQ(parse_tsan_options("").exit_code, std::nullopt);
  EXPECT_FALSE(parse_tsan_options("report_bugs=0").report_bugs);
  EXPECT_TRUE(parse_tsan_options("report_bugs=1").report_bugs);
  const std::vector<std::string> nothing = {"halt_on_error", "history_size"};
  EXPECT_EQ(parse_tsan_options("halt_on_error=1:exitcode=1:history_size=7 halt_on_error=0,io_sync=2").without_effect,
            nothing);
}

TEST(TsanOptions, ReadsWhatThreadSanitizerReads) {
  const struct {
    const char* text;
    const char* log_path;
    const char* suppressions;
  } cases[] = {
      {"", "", ""},
      {"log_path=a.log", "a.log", ""},
      {"log_path='/b c/Memory:1.log'", "/b c/Memory:1.log", ""},  // as ctest writes it
      {"log_path='a.log':suppressions=s.txt", "a.log", "s.txt"},
      {"suppressions=\"s t\" history_size=2,log_path=x", "x", "s t"},
      {"halt_on_error=1:log_path=a\tlog_path=b", "b", ""},
      {"log_path", "", ""},
      {"log_path:suppressions=s", "", "s"},
      {"log_path=", "", ""},
      {"log_path='unended", "unended", ""},
      {"log_path=stderr", "", ""},
      {"verbosity=1:log_path=stdout", "", ""},
      {"my_log_path=a", "", ""},
  };
  for (const auto& each : cases) {
    const TsanOptions options = parse_tsan_options(each.text);
    EXPECT_EQ(options.log_path, each.log_path) << each.text;
    EXPECT_EQ(options.suppressions, each.suppressions) << each.text;
  }
}

TEST(TsanOptions, LogHoldsOnlyWhatFailsTheRun) {
  Report report;
  for (const Rung rung : {Rung::kSuspected, Rung::kConfirmed}) {
    Finding finding;
    finding.kind = FindingKind::kRace;
    finding.rung = rung;
    finding.accesses.resize(2);
    finding.accesses[0].site.label = finding.accesses[1].site.label = rung == Rung::kSuspected ? "doubtful" : "certain";
    report.findings.push_back(finding);
  }
  const std::string path = ::testing::TempDir() + "tsan_options_test.log";
  const std::string file = path + "." + std::to_string(::getpid());
  ASSERT_TRUE(write_tsan_log(report, Rung::kHarmful, path).ok());
  ASSERT_TRUE(write_tsan_log(report, std::nullopt, path).ok());
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_TRUE(write_tsan_log(report, Rung::kPredicted, path).ok());
  const Result<std::string> log = read_whole_file(file);
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->find("WARNING: ThreadSanitizer: data race (pid="), std::string::npos) << *log;
  EXPECT_NE(log->find("certain"), std::string::npos) << *log;
  EXPECT_EQ(log->find("doubtful"), std::string::npos) << *log;
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace sooth
