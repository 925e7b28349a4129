#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/sample_reports.h"
#include "report/sink.h"

namespace sooth {
namespace {

// The line about the replay when so many trials were made and so many of them got there.
std::string replay_line(std::uint64_t hits, std::uint64_t trials) {
  Report report = sample_reports()[0].second;
  const auto finding = std::find_if(report.findings.begin(), report.findings.end(),
                                    [](const Finding& each) { return each.replay.has_value(); });
  EXPECT_NE(finding, report.findings.end());
  finding->replay->hits = hits;
  finding->replay->trials = trials;
  finding->replay->probability = trials == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(trials);
  std::ostringstream out;
  EXPECT_TRUE(write_text(report, {}, out).ok());
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("replay: ") != std::string::npos) {
      return line.substr(line.find("(seed"));
    }
  }
  return "";
}

// What happened is not "reached in 0 % of the runs": the run along the witness got there, which is no trial.
TEST(TextTest, CountsTheRunsThatGotThere) {
  EXPECT_EQ(replay_line(1, 300), "(seed 7, reached in 1 of 300 runs)");
  EXPECT_EQ(replay_line(1, 1), "(seed 7, reached in 1 of 1 run)");
  EXPECT_EQ(replay_line(0, 30), "(seed 7)");
  EXPECT_EQ(replay_line(0, 0), "(seed 7)");
}

// A loop that takes a lock three times is one line, not three that read alike.
TEST(TextTest, CountsSwapsThatReadAlike) {
  Report report = sample_reports()[0].second;
  const auto finding = std::find_if(report.findings.begin(), report.findings.end(), [](const Finding& each) {
    return each.witness.has_value() && !each.witness->swaps.empty();
  });
  ASSERT_NE(finding, report.findings.end());
  finding->witness->swaps.resize(3, finding->witness->swaps.front());
  SinkOptions options;
  options.verbose = true;
  std::ostringstream out;
  EXPECT_TRUE(write_text(report, options, out).ok());
  const std::string text = out.str();
  const std::size_t first = text.find("; in the recorded run it was the other way round");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("; in the recorded run it was the other way round (3 times)\n"), first) << text;
  EXPECT_EQ(text.find("the other way round", first + 40), std::string::npos) << text;
}

// Forty processes of a test suite say the same with other numbers.
TEST(TextTest, FoldsRemarksThatDifferInNumbersOnly) {
  Report report;
  for (int pairs = 2; pairs < 12; ++pairs) {
    report.notes.push_back("Of " + std::to_string(pairs) + " pairs it is proven.");
    report.add_gap(GapKind::kUnknown, "mcm has no answer for " + std::to_string(pairs) + " pairs of sites");
  }
  report.add_gap(GapKind::kUnknown, "mcm has no answer for anything");
  std::ostringstream out;
  EXPECT_TRUE(write_text(report, {}, out).ok());
  EXPECT_NE(out.str().find("note: Of 2 pairs it is proven. (and 9 more like it)\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("  unknown: mcm has no answer for 2 pairs of sites (and 9 more like it)\n"),
            std::string::npos);
  EXPECT_NE(out.str().find("  unknown: mcm has no answer for anything\n"), std::string::npos);
  EXPECT_EQ(out.str().find("3 pairs"), std::string::npos);
}

}  // namespace
}  // namespace sooth
