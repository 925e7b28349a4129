#include "run/analyze_source.h"

#include <gtest/gtest.h>

#include <string>

namespace sooth {
namespace {

const std::string kGolden = SOOTH_SOURCE_DIR "/tests/golden/";

TEST(AnalysesFor, EverythingForAWholeTrace) {
  const Result<std::string> names = analyses_for(kGolden + "plain_race.std");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, "hb,wcp,syncp,hybrid,hybrid:hard,ipa,mcm,deadlock,atomicity,misuse");
  EXPECT_TRUE(parse_detectors(*names).ok());
}

// Whoever takes a call that was not recorded for nothing would raise false alarms.
TEST(AnalysesFor, RditForCallsThatWereNotRecorded) {
  const std::string path = kGolden + "rdit/rdit_figure_4_1_race.std";
  const Result<std::string> names = analyses_for(path);
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, "hybrid,hybrid:hard,ipa,deadlock,atomicity,misuse,rdit");
  AnalysisOptions options;
  options.detectors = *parse_detectors(*names);
  Result<TraceSource> source = open_source(path, columns_for(options.detectors));
  ASSERT_TRUE(source.ok());
  const Result<Report> report = analyze_source(*source, options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].rung, Rung::kPredicted);
  EXPECT_EQ(report->trace, path);
}

// The first race of the WCP paper that happens-before misses: it takes a witness to be believed.
class Hurried : public testing::Test {
 protected:
  Report analyze() {
    options.detectors = *parse_detectors("wcp,mcm");
    Result<TraceSource> source = open_source(kGolden + "wcp_figure_1b.std", columns_for(options.detectors));
    return *analyze_source(*source, options);
  }
  AnalysisOptions options;
};

TEST_F(Hurried, WithTimeItIsProven) {
  const Report report = analyze();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rung, Rung::kPredicted);
  EXPECT_FALSE(report.incomplete);
}

TEST_F(Hurried, WithoutTimeForWitnessesMcmProvesIt) {
  options.proof.out_of_time = [] { return true; };
  const Report report = analyze();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rung, Rung::kPredicted);
}

TEST_F(Hurried, WithoutAnyTimeItStaysASuspicionAndSaysWhy) {
  options.proof.out_of_time = options.mcm.out_of_time = [] { return true; };
  const Report report = analyze();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rung, Rung::kSuspected);
  EXPECT_NE(report.findings[0].witness->why.find("time was over"), std::string::npos);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes[0].find("mcm has no answer"), std::string::npos) << report.notes[0];
}

TEST_F(Hurried, NothingIsRefutedForLackOfTime) {
  bool proven = false, open = false;
  for (int looks = 0; looks < 40; ++looks) {
    int asked = 0;
    options.proof.out_of_time = options.mcm.out_of_time = [&] { return ++asked > looks; };
    options.mcm.jobs = 1;
    const Report report = analyze();
    ASSERT_EQ(report.findings.size(), 1u) << looks;
    proven = proven || report.findings[0].rung == Rung::kPredicted;
    open = open || report.findings[0].rung == Rung::kSuspected;
    for (const std::string& note : report.notes) {
      EXPECT_EQ(note.find("refuted"), std::string::npos) << note;
    }
  }
  EXPECT_TRUE(proven && open);
}

TEST_F(Hurried, InterruptedItTellsHowFarItCame) {
  options.cancelled = [] { return true; };
  const Report report = analyze();
  EXPECT_TRUE(report.incomplete);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes[0].find("Interrupted: only the first"), std::string::npos) << report.notes[0];
}

TEST(AnalysesFor, ErrorsNameTheTrace) {
  const Result<std::string> names = analyses_for(kGolden + "no_such_trace.std");
  ASSERT_FALSE(names.ok());
  EXPECT_NE(names.status().message().find("no_such_trace.std"), std::string::npos);
}

}  // namespace
}  // namespace sooth
