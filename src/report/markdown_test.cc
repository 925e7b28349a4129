#include <gtest/gtest.h>

#include <sstream>

#include "report/sample_reports.h"
#include "report/sink.h"

namespace sooth {
namespace {

std::string markdown(const Report& report) {
  std::ostringstream out;
  EXPECT_TRUE(write_markdown(report, {}, out).ok());
  return out.str();
}

TEST(MarkdownTest, StaysBelowTheLimitOfCommentsAndSaysWhatItLeavesOut) {
  Report report = sample_reports()[0].second;
  const Finding first = report.findings[0];
  for (int i = 0; i < 2000; ++i) {
    report.findings.push_back(first);
  }
  report.notes.assign(1000, "this was not covered, and that neither");
  const std::string text = markdown(report);
  EXPECT_LT(text.size(), 65'000u);
  EXPECT_NE(text.find("... and 1905 more."), std::string::npos);
  EXPECT_NE(text.find("more are left out here."), std::string::npos);
  EXPECT_NE(text.find("1000 notes on what was not covered"), std::string::npos);
}

// Rows of the table have four cells whatever is in the names, and no tag but ours gets through.
TEST(MarkdownTest, NamesAreNoMarkup) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::istringstream lines(markdown(random_report(seed)));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("| ")) {
        std::size_t bars = 0;
        for (std::size_t i = 0; i < line.size(); ++i) {
          bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
        }
        EXPECT_EQ(bars, 5u) << "seed " << seed << ": " << line;
      }
    }
  }
  for (const auto& [name, report] : sample_reports()) {
    if (name == "hostile") {
      const std::string text = markdown(report);
      EXPECT_EQ(text.find("<script"), std::string::npos);
      EXPECT_EQ(text.find("<b>bold"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace sooth
