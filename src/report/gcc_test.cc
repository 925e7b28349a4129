// The messages as editors read them.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/sample_reports.h"
#include "report/sink.h"

namespace sooth {
namespace {

std::vector<std::string> lines_of(const Report& report) {
  std::ostringstream out;
  EXPECT_TRUE(write_gcc(report, {}, out).ok());
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Each message of findings in files is one for the strictest matchers that are in use.
TEST(GccTest, ProblemMatchersReadEveryMessage) {
  // VS Code's $gcc, that of GitHub's C++ actions, and Emacs' `gnu`, as far as it covers files with lines.
  const std::regex matchers[] = {
      std::regex(R"(^(.*):(\d+):(\d+):\s+(?:fatal\s+)?(warning|error|info|note):\s+(.*)$)"),
      std::regex(R"(^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error|note):\s+(.*)$)"),
      std::regex(R"(^([^\s:][^\n:]*):(\d+):(\d+): *(warning|error|note).*$)"),
  };
  std::size_t messages = 0;
  for (const auto& [name, report] : sample_reports()) {
    if (name != "program" && name != "context" && name != "misuse") {
      continue;  // their sites have no files, or hostile names
    }
    for (const std::string& line : lines_of(report)) {
      if (line.find("+0x") != std::string::npos || line.starts_with(report.trace)) {
        continue;  // a place in a module: there is nothing to jump to
      }
      ++messages;
      for (const std::regex& matcher : matchers) {
        std::smatch parts;
        ASSERT_TRUE(std::regex_match(line, parts, matcher)) << name << ": " << line;
        EXPECT_TRUE(parts[1].str().ends_with(".cc") || parts[1].str().ends_with(".h")) << parts[1];
      }
    }
  }
  EXPECT_GT(messages, 30u);
}

// A run that crashed: nobody did anything, and nobody created a thread.
TEST(GccTest, CrashesSayHowTheProgramEnded) {
  Report report;
  Finding& crash = report.findings.emplace_back();
  crash.kind = FindingKind::kCrash;
  crash.rung = Rung::kHarmful;
  crash.id = "0123456789abcdef";
  crash.failure.emplace().outcome = "killed by signal 11 (Segmentation fault)";
  Access& access = crash.accesses.emplace_back();
  access.op = Op::kCallBegin;
  access.thread = "T1";
  access.site.file = "a.cc";
  access.site.line = 8;
  access.site.column = 5;
  access.site.function = "hits()";
  EXPECT_EQ(
      lines_of(report).front(),
      "a.cc:8:5: error: harmful crash, killed by signal 11 (Segmentation fault): thread T1 crashed here in hits() "
      "[sooth-crash]");
  std::ostringstream out;
  ASSERT_TRUE(write_tsan(report, {}, out).ok());
  EXPECT_NE(out.str().find("  Thread T1 crashed here:\n    #0 hits() a.cc:8:5"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("created by"), std::string::npos) << out.str();
}

TEST(GccTest, EveryLineOfEveryReportNamesAPlaceAndASeverity) {
  const std::regex shape(R"(^.+: (warning|error|note): .+$)");
  for (const auto& [name, report] : sample_reports()) {
    for (const std::string& line : lines_of(report)) {
      EXPECT_TRUE(std::regex_match(line, shape)) << name << ": " << line;
    }
  }
}

}  // namespace
}  // namespace sooth
