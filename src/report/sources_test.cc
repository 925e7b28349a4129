#include "report/sources.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "report/files.h"

namespace sooth {
namespace {

class SourcesTest : public testing::Test {
 protected:
  SourcesTest() : folder_(std::filesystem::path(testing::TempDir()) / "sooth_sources_test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~SourcesTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    EXPECT_TRUE(write_whole_file(path, text).ok());
    return path;
  }
  static std::string numbered(int lines) {
    std::string text;
    for (int i = 1; i <= lines; ++i) {
      text += "line " + std::to_string(i) + "\n";
    }
    return text;
  }
  static Report naming(const std::string& path, std::vector<std::uint32_t> lines) {
    Report report;
    Finding& finding = report.findings.emplace_back();
    for (const std::uint32_t line : lines) {
      Access& access = finding.accesses.emplace_back();
      access.site.file = path;
      access.site.line = line;
    }
    return report;
  }

  std::filesystem::path folder_;
};

TEST_F(SourcesTest, ExcerptsAroundLinesThatTouchAreOne) {
  const std::string path = file("a.cc", numbered(50));
  const std::vector<SourceText> texts = read_sources(naming(path, {1, 4, 30, 50}), 2);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].state, SourceState::kUnknown);
  ASSERT_EQ(texts[0].excerpts.size(), 3u);
  EXPECT_EQ(texts[0].excerpts[0].first_line, 1u);
  EXPECT_EQ(texts[0].excerpts[0].lines.size(), 6u);
  EXPECT_EQ(texts[0].excerpts[1].lines,
            (std::vector<std::string>{"line 28", "line 29", "line 30", "line 31", "line 32"}));
  EXPECT_EQ(texts[0].excerpts[2].lines, (std::vector<std::string>{"line 48", "line 49", "line 50"}));
}

TEST_F(SourcesTest, TellsWhetherAFileHasChanged) {
  const std::string path = file("a.cc", numbered(9));
  Report report = naming(path, {5});
  note_sources(report);
  ASSERT_EQ(report.sources.size(), 1u);
  EXPECT_EQ(read_sources(report, 1)[0].state, SourceState::kSame);
  file("a.cc", numbered(10));
  EXPECT_EQ(read_sources(report, 1)[0].state, SourceState::kChanged);
  EXPECT_EQ(read_sources(report, 1)[0].excerpts.size(), 1u);
  std::filesystem::remove(path);
  EXPECT_EQ(read_sources(report, 1)[0].state, SourceState::kMissing);
  EXPECT_EQ(read_sources(report, 1)[0].why, "No such file or directory");
  // Without a digest, a line that is not there gives it away.
  file("a.cc", numbered(4));
  EXPECT_EQ(read_sources(naming(path, {5}), 1)[0].state, SourceState::kChanged);
}

// A report may come from anywhere: it must not make sooth put other files into a page.
TEST_F(SourcesTest, ShowsSourceFilesOnly) {
  for (const std::string& name : {file("id_rsa", "secret\n"), file(".c", "secret\n"), file("passwords.txt", "secret\n"),
                                  file("binary.cc", std::string("a\0b", 3)), std::string("/dev/zero"),
                                  std::string("/dev/stdin.c/../stdin"), folder_.string()}) {
    Report report = naming(name, {1});
    note_sources(report);
    EXPECT_TRUE(report.sources.empty()) << name;
    const std::vector<SourceText> texts = read_sources(report, 3);
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_TRUE(texts[0].state == SourceState::kRefused || texts[0].state == SourceState::kMissing) << name;
    EXPECT_TRUE(texts[0].excerpts.empty()) << name;
  }
  EXPECT_FALSE(read_sources(naming("/usr/include/c++/12/thread", {1}), 3).empty());
}

TEST_F(SourcesTest, LongLinesAreCutAndLineEndsOfAllKindsAreNone) {
  const std::string path = file("a.h", std::string(5000, 'x') + "\r\nsecond\r\nlast");
  const std::vector<SourceText> texts = read_sources(naming(path, {2}), 5);
  ASSERT_EQ(texts[0].excerpts.size(), 1u);
  EXPECT_EQ(texts[0].excerpts[0].lines, (std::vector<std::string>{std::string(400, 'x'), "second", "last"}));
}

}  // namespace
}  // namespace sooth
