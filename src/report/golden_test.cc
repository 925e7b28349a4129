// Every format of every sample report, byte for byte. SOOTH_UPDATE_GOLDEN=1 writes the files anew: review the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "report/files.h"
#include "report/sample_reports.h"
#include "report/sink.h"

namespace sooth {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(SOOTH_SOURCE_DIR) + "/tests/report/golden/" + name;
  const char* update = std::getenv("SOOTH_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    const Status written = write_whole_file(path, text);
    ASSERT_TRUE(written.ok()) << written.message();
  }
  const Result<std::string> golden = read_whole_file(path);
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_EQ(*golden, text) << path << ": run the test with SOOTH_UPDATE_GOLDEN=1 if this is what you meant";
}

std::string written(const Report& report, std::string_view format, const SinkOptions& options) {
  std::ostringstream out;
  const Status status = find_sink(format)->write(report, options, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out.str();
}

TEST(GoldenTest, EveryFormatOfEverySample) {
  SinkOptions options;
  options.deterministic = true;
  options.stats = true;
  options.version = "1.2.3";
  for (const auto& [name, report] : sample_reports()) {
    for (const SinkInfo& sink : sinks()) {
      if (sink.name == "html") {
        continue;  // html_test.cc and tests/html: it is mostly the page, and reads source files
      }
      SCOPED_TRACE(name + " as " + std::string(sink.name));
      expect_golden(name + "." + std::string(sink.name), written(report, sink.name, options));
    }
  }
}

// Text only counts suspicions, unless they are asked for; a finding has a paragraph, whatever its names hold.
TEST(GoldenTest, SuspicionsInText) {
  SinkOptions asked;
  asked.fail_on = Rung::kSuspected;
  for (auto [name, report] : sample_reports()) {
    SCOPED_TRACE(name);
    const bool any = std::any_of(report.findings.begin(), report.findings.end(),
                                 [](const Finding& finding) { return finding.rung == Rung::kSuspected; });
    if (!any) {
      continue;
    }
    expect_golden(name + ".suspicions.text", written(report, "text", asked));
    for (Finding& finding : report.findings) {
      finding.rung = std::max(finding.rung, Rung::kPredicted);
    }
    expect_golden(name + ".predicted.text", written(report, "text", {}));
  }
}

TEST(GoldenTest, ColorsAndTimes) {
  SinkOptions options;
  options.color = true;
  options.stats = true;
  expect_golden("program.color.text", written(sample_reports()[0].second, "text", options));
}

// A name that holds an escape sequence must not reach the terminal as one.
TEST(GoldenTest, OnlyOurOwnControlCharacters) {
  for (const auto& [name, report] : sample_reports()) {
    for (const std::string_view format : {"text", "tsan", "gcc", "junit", "markdown"}) {
      SinkOptions everything;
      everything.fail_on = Rung::kSuspected;
      for (const char c : written(report, format, {}) + written(report, format, everything)) {
        EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) << name << " as " << format;
      }
    }
  }
}

}  // namespace
}  // namespace sooth
