// `sooth report` as a user runs it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>

#include "report/files.h"

namespace sooth {
namespace {

const std::string kGolden = std::string(SOOTH_SOURCE_DIR) + "/tests/report/golden/";

struct Outcome {
  int status = -1;
  std::string output;  // of both streams
};

class ReportCommandTest : public testing::Test {
 protected:
  ReportCommandTest() : folder_(std::filesystem::path(testing::TempDir()) / "sooth_report_command_test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ReportCommandTest() override { std::filesystem::remove_all(folder_); }

  static Outcome sooth(const std::string& arguments) {
    Outcome outcome;
    FILE* pipe = ::popen((std::string(SOOTH_BINARY) + " " + arguments + " 2>&1").c_str(), "r");
    if (pipe == nullptr) {
      return outcome;
    }
    char buffer[4096];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
      outcome.output.append(buffer, got);
    }
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  static std::string golden(const std::string& name) { return read_whole_file(kGolden + name).value(); }
  // Golden files are of a version of their own.
  static std::string without_version(const std::string& text) {
    return std::regex_replace(text, std::regex("\"version\": \"[0-9.]+\""), "");
  }
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    EXPECT_TRUE(write_whole_file(path, text).ok());
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(ReportCommandTest, PrintsEveryFormatFromTheJson) {
  for (const std::string name : {"program", "text", "nothing", "known"}) {
    for (const std::string format : {"text", "tsan", "gcc", "json", "junit", "markdown"}) {
      // Of a file it would say that replays are in that file.
      const Outcome outcome =
          sooth("report - --stats --no-times --format " + format + " < " + kGolden + name + ".json");
      EXPECT_EQ(outcome.status, name == "program" ? 66 : 0);
      EXPECT_EQ(without_version(outcome.output), without_version(golden(name + "." + format)))
          << name << " as " << format;
    }
  }
}

TEST_F(ReportCommandTest, ReplaysAreInTheFileThatIsRead) {
  const std::string moved = file("moved.json", golden("program.json"));
  EXPECT_NE(sooth("report " + moved).output.find("replay: sooth replay " + moved + "#130087bc75ada9ed -- ./server"),
            std::string::npos);
}

// The tests of JUnit fail for the findings that make the command fail.
TEST_F(ReportCommandTest, JunitFollowsFailOn) {
  const auto failures = [](const std::string& rung) {
    const std::string text = sooth("report " + kGolden + "program.json --format junit --fail-on " + rung).output;
    const std::size_t at = text.find("failures=\"") + 10;
    return text.substr(at, text.find('"', at) - at);
  };
  EXPECT_EQ(failures("suspected"), "5");
  EXPECT_EQ(failures("predicted"), "3");  // one of the predicted is of a trace that is not exact
  EXPECT_EQ(failures("harmful"), "1");
  EXPECT_EQ(failures("never"), "0");
}

TEST_F(ReportCommandTest, APageThatNeedsNothingElse) {
  const std::string path = folder_ / "page.html";
  EXPECT_EQ(sooth("report " + kGolden + "program.json --format html -o " + path).status, 66);
  const std::string page = read_whole_file(path).value();
  EXPECT_TRUE(page.starts_with("<!doctype html>\n"));
  EXPECT_NE(page.find("130087bc75ada9ed"), std::string::npos);
  EXPECT_EQ(sooth("report " + kGolden + "program.json --format html --fail-on never").output, page);
}

// Also where the files are there to be read.
TEST_F(ReportCommandTest, ARedactedPageHasNoSource) {
  std::string report = golden("program.json");
  const std::string source = file("cache.cc", std::string(87, '\n') + "secret = 1;\n");
  for (std::size_t at = 0; (at = report.find("src/cache.cc", at)) != std::string::npos; at += source.size()) {
    report.replace(at, 12, source);
  }
  const std::string path = file("report.json", report);
  EXPECT_NE(sooth("report " + path + " --format html").output.find("secret = 1"), std::string::npos);
  EXPECT_EQ(sooth("report " + path + " --format html --redact").output.find("secret = 1"), std::string::npos);
}

TEST_F(ReportCommandTest, ViewPrintsThePathWhereThereIsNoTerminal) {
  const std::string path = folder_ / "page.html";
  const Outcome named = sooth("view " + kGolden + "program.json -o " + path);
  EXPECT_EQ(named.status, 0);
  EXPECT_EQ(named.output, path + "\n");
  const std::string page = read_whole_file(path).value();
  const Outcome outcome = sooth("view " + kGolden + "program.json");
  EXPECT_EQ(outcome.status, 0);
  ASSERT_TRUE(outcome.output.ends_with("/program.html\n")) << outcome.output;
  const std::filesystem::path made = outcome.output.substr(0, outcome.output.size() - 1);
  EXPECT_EQ(read_whole_file(made).value(), page);
  EXPECT_EQ(std::filesystem::status(made.parent_path()).permissions(), std::filesystem::perms::owner_all);
  std::filesystem::remove_all(made.parent_path());
  EXPECT_EQ(sooth("view /nonexistent.json").status, 65);
}

// On a terminal, which `script` makes. The browser writes what it was given into a pipe.
TEST_F(ReportCommandTest, ViewOpensTheBrowser) {
  const std::string pipe = folder_ / "pipe", page = folder_ / "page.html";
  const std::string browser = file("browser", "#!/bin/sh\necho \"$1\" > " + pipe + "\n");
  std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
  const std::string view = std::string(SOOTH_BINARY) + " view " + kGolden + "program.json -o " + page;
  const Outcome outcome = sooth("--version > /dev/null; mkfifo " + pipe + "; BROWSER=" + browser + " script -qec '" +
                                view + "' /dev/null > /dev/null & cat " + pipe);
  EXPECT_EQ(outcome.output, page + "\n");
  const Outcome none =
      sooth("--version > /dev/null; BROWSER=/nonexistent/browser script -qec '" + view + "' /dev/null");
  EXPECT_NE(none.output.find("there is no browser here that could be started (/nonexistent/browser)"),
            std::string::npos)
      << none.output;
  EXPECT_NE(none.output.find(page), std::string::npos);
}

TEST_F(ReportCommandTest, ReadsStandardInput) {
  EXPECT_EQ(sooth("report - --stats --no-times < " + kGolden + "nothing.json").output, golden("nothing.text"));
}

TEST_F(ReportCommandTest, TheExitStatusFollowsFailOn) {
  const std::pair<std::string, int> cases[] = {
      {"program.json", 66},
      {"program.json --fail-on harmful", 66},
      {"program.json --fail-on never", 0},
      {"text.json", 0},  // only a suspicion
      {"text.json --fail-on suspected", 66},
      {"nothing.json --fail-on suspected", 0},
      {"known.json", 0},  // the predicted one is known
  };
  for (const auto& [arguments, status] : cases) {
    EXPECT_EQ(sooth("report " + kGolden + arguments).status, status) << arguments;
  }
}

TEST_F(ReportCommandTest, ABaselineMakesFindingsKnown) {
  const Outcome all = sooth("report " + kGolden + "program.json --baseline " + kGolden + "program.json");
  EXPECT_EQ(all.status, 0);
  EXPECT_TRUE(
      all.output.starts_with("No new races found in 123456 events by hb, wcp, lockset; 2 suppressed, "
                             "5 known from the baseline.\n"))
      << all.output;
  const Outcome none = sooth("report " + kGolden + "program.json --baseline " + kGolden + "text.json");
  EXPECT_EQ(none.status, 66);
  EXPECT_EQ(none.output, sooth("report " + kGolden + "program.json").output);
}

TEST_F(ReportCommandTest, SuppressionsOfSeveralFiles) {
  const std::string first = file("first", "race:Cache::evict\ndeadlock:^audit()$\n");
  const std::string second = file("second", "race:*\nrace_top:never_there\n");
  const Outcome some = sooth("report --suppressions " + first + " " + kGolden + "program.json");
  EXPECT_EQ(some.status, 66);
  EXPECT_NE(some.output.find("3 races (2 predicted, 1 suspected), 4 suppressed\n"), std::string::npos) << some.output;
  const Outcome all = sooth("report " + kGolden + "program.json --suppressions " + first + " --suppressions " + second);
  EXPECT_EQ(all.status, 0);
  EXPECT_NE(all.output.find("; 7 suppressed.\n"), std::string::npos) << all.output;
  EXPECT_NE(all.output.find(second + ":2: unused suppression race_top:never_there\n"), std::string::npos);
  EXPECT_EQ(all.output.find("unused suppression race:*"), std::string::npos);
}

TEST_F(ReportCommandTest, WritesAFileAndNothingElse) {
  const std::string path = folder_ / "out.json";
  const Outcome outcome = sooth("report " + kGolden + "text.json --no-times --format json -o " + path);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(without_version(read_whole_file(path).value()), without_version(golden("text.json")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()), 1);
}

TEST_F(ReportCommandTest, AFullDiskIsOurFault) {
  const Outcome outcome = sooth("report " + kGolden + "text.json -o /dev/full");
  EXPECT_EQ(outcome.status, 70);
  EXPECT_EQ(outcome.output, "sooth: /dev/full: cannot write: No space left on device\n");
  EXPECT_EQ(sooth("report " + kGolden + "text.json > /dev/full").status, 70);
}

TEST_F(ReportCommandTest, ColorsOnlyWhereTheyAreWanted) {
  EXPECT_EQ(sooth("report " + kGolden + "text.json").output.find('\x1b'), std::string::npos);  // a pipe
  EXPECT_NE(sooth("report --color always " + kGolden + "text.json").output.find("\x1b["), std::string::npos);
}

TEST_F(ReportCommandTest, RefusesWrongUsageAndBadFiles) {
  const std::string not_json = file("not.json", "{\n  oops\n}");
  const std::string bad_rule = file("bad.supp", "race:a\nfoo:b\n");
  struct Case {
    std::string arguments;
    int status;
    std::string sentence;
  };
  const Case cases[] = {
      {"", 64, "REPORT"},
      {kGolden + "text.json --format yaml", 64, "yaml"},
      {kGolden + "text.json --fail-on sometimes", 64, "sometimes"},
      {kGolden + "text.json another.json", 64, "another.json"},
      {"/nonexistent.json", 65, "sooth: /nonexistent.json: cannot open: No such file or directory\n"},
      {not_json, 65, "sooth: " + not_json + ": line 2, column 3: this is not valid JSON, so no report of sooth\n"},
      {kGolden + "text.json --baseline " + not_json, 65, "sooth: the baseline: " + not_json + ": line 2"},
      {kGolden + "text.json --suppressions " + bad_rule, 65, "sooth: " + bad_rule + ":2: unknown type of suppression"},
      {kGolden + "text.json --suppressions /nonexistent", 65, "sooth: /nonexistent: cannot open"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = sooth("report " + c.arguments);
    EXPECT_EQ(outcome.status, c.status) << c.arguments;
    EXPECT_NE(outcome.output.find(c.sentence), std::string::npos) << c.arguments << "\n" << outcome.output;
  }
}

}  // namespace
}  // namespace sooth
