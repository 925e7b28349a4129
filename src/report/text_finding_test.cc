#include "report/text_finding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "report/files.h"
#include "report/sink.h"

namespace sooth {
namespace {

Site at(std::string file, std::uint32_t line, std::uint32_t column, std::string function) {
  Site site;
  site.label = file + ":" + std::to_string(line) + ":" + std::to_string(column);
  site.file = std::move(file);
  site.line = line;
  site.column = column;
  site.function = std::move(function);
  return site;
}

Access access(Op op, const std::string& variable, const std::string& thread, std::uint64_t event, Site site,
              std::string code, std::vector<std::string> locks = {}) {
  Access made;
  made.op = op;
  made.size = is_access(op) ? 8 : 0;
  made.address = 0x7f0012345678;
  made.variable = variable;
  made.thread = thread;
  made.event = EventId{event};
  made.site = std::move(site);
  made.code = std::move(code);
  made.locks = std::move(locks);
  return made;
}

Finding race() {
  Finding finding;
  finding.id = "b44edf796ca1dd06";
  finding.rung = Rung::kConfirmed;
  finding.observed = true;
  finding.found_by = {"hb", "wcp"};
  finding.dynamic_pairs = 12;
  finding.accesses = {
      access(Op::kRead, "account.balance", "main", 40, at("/home/u/bank/src/account.cc", 31, 10, "total()"),
             "  return account.balance;", {}),
      access(Op::kWrite, "account.balance", "T2", 52, at("/usr/include/c++/12/bits/stl_numeric.h", 88, 3, "std::x()"),
             "\taccount.balance += std::accumulate(fees.begin(), fees.end(), amount);", {"account_mutex"})};
  finding.accesses[1].stack = {at("/usr/include/c++/12/numeric", 9, 3, "std::y()"),
                               at("/home/u/bank/src/account.cc", 12, 2, "deposit(long)")};
  finding.accesses[1].frame = 2;
  finding.context.habit = {"account_mutex", 13, 14};
  finding.replay.emplace();
  finding.replay->command = "sooth replay sooth-bank.json#b44edf796ca1dd06 -- ./bank";
  finding.replay->seed = 7;
  finding.replay->trials = 10;
  finding.replay->hits = 9;
  return finding;
}

Finding hidden_race() {
  Finding finding;
  finding.id = "0123456789abcdef";
  finding.rung = Rung::kPredicted;
  finding.found_by = {"wcp"};
  finding.dynamic_pairs = 1;
  finding.accesses = {access(Op::kWrite, "x", "T1", 5, at("textbook.cc", 9, 5, "first()"), "  x = 1;"),
                      access(Op::kWrite, "x", "T2", 12, at("textbook.cc", 19, 5, "second()"), "  x = 2;")};
  finding.witness.emplace();
  finding.witness->checked = true;
  finding.witness->swaps = {{"m",
                             {"T2", EventId{9}, at("textbook.cc", 16, 3, "second()")},
                             {"T1", EventId{6}, at("textbook.cc", 10, 3, "first()")}}};
  return finding;
}

Finding deadlock() {
  Finding finding;
  finding.id = "0ec4875e7a05cd2a";
  finding.kind = FindingKind::kDeadlock;
  finding.rung = Rung::kPredicted;
  finding.found_by = {"deadlock"};
  finding.accesses = {access(Op::kAcquire, "accounts.mu", "T1", 50, at("src/bank.cc", 10, 5, "deposit()"),
                             "  accounts.mu.lock();", {"log.mu"}),
                      access(Op::kAcquire, "log.mu", "T2", 58, at("src/bank.cc", 20, 5, "audit()"), "  log.mu.lock();",
                             {"accounts.mu"})};
  finding.witness.emplace();
  finding.witness->checked = true;
  return finding;
}

Finding crash() {
  Finding finding;
  finding.id = "4cd5bce8dd2466e8";
  finding.kind = FindingKind::kCrash;
  finding.rung = Rung::kHarmful;
  finding.found_by = {"schedule"};
  finding.dynamic_pairs = 3;
  finding.failure.emplace();
  finding.failure->outcome = "killed by signal 6 (Aborted)";
  finding.failure->message = "queue.cc:88: pop: Assertion `!empty()' failed.";
  finding.failure->signal = 6;
  finding.failure->after = {"b44edf796ca1dd06"};
  finding.accesses = {access(Op::kCallBegin, "", "T3", 0, at("queue.cc", 88, 3, "pop()"), "  assert(!empty());")};
  finding.accesses[0].address = 0;
  finding.replay.emplace();
  finding.replay->command = "sooth replay sooth-queue.json#4cd5bce8dd2466e8 -- ./queue";
  finding.replay->seed = 3;
  finding.replay->trials = 40;
  finding.replay->hits = 3;
  finding.replay->preemptions = {
      "preempt T3 between the read at /home/u/queue.cc:80:7 and the write at /home/u/queue.cc:81:3, and let T2 run"};
  return finding;
}

Finding misuse() {
  Finding finding;
  finding.id = "1c2f4d53f03a5b1e";
  finding.kind = FindingKind::kMisuse;
  finding.misuse = MisuseKind::kDoubleLock;
  finding.rung = Rung::kPredicted;
  finding.observed = true;
  finding.found_by = {"misuse"};
  finding.accesses = {
      access(Op::kMisuse, "queue.mu", "T1", 112, at("src/queue.cc", 41, 3, "pop()"), "  mu.lock();", {"queue.mu"})};
  return finding;
}

Finding unexecuted() {
  Finding finding;
  finding.id = "77aa77aa77aa77aa";
  finding.rung = Rung::kPredicted;
  finding.found_by = {"recipe"};
  finding.accesses = {access(Op::kWrite, "data", "T1", 20, at("ready.cc", 14, 8, "producer()"), "  data = 42;"),
                      access(Op::kRead, "data", "T2", 0, at("ready.cc", 27, 12, "consumer()"), "    return data;")};
  finding.accesses[1].executed = false;
  finding.accesses[1].when = {"ready == 0 (read at ready.cc:25)"};
  finding.witness.emplace();
  finding.witness->checked = true;
  return finding;
}

const std::vector<Finding>& six_findings() {
  static const std::vector<Finding> kFindings = {race(), hidden_race(), deadlock(), crash(), misuse(), unexecuted()};
  return kFindings;
}

std::string brief(const Finding& finding, std::uint32_t width, bool color) {
  SinkOptions options;
  options.width = width;
  options.color = color;
  std::ostringstream out;
  write_brief(finding, {}, {}, options, Paint(color), out);
  return out.str();
}

void expect_text(const std::string& name, const std::string& text) {
  const std::string path = std::string(SOOTH_SOURCE_DIR) + "/tests/report/golden/" + name;
  const char* update = std::getenv("SOOTH_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    ASSERT_TRUE(write_whole_file(path, text).ok());
  }
  const Result<std::string> golden = read_whole_file(path);
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_EQ(*golden, text) << path << ": run the test with SOOTH_UPDATE_GOLDEN=1 if this is what you meant";
}

TEST(TextFindingTest, SixFindingsOnTerminals) {
  for (const std::uint32_t width : {80u, 120u}) {
    for (const bool color : {false, true}) {
      std::string all;
      for (const Finding& finding : six_findings()) {
        all += brief(finding, width, color);
      }
      expect_text("terminal." + std::to_string(width) + (color ? ".color" : "") + ".text", all);
    }
  }
}

TEST(TextFindingTest, NoneIsLongerThanFifteenLinesOrWiderThanTheTerminal) {
  for (const Finding& finding : six_findings()) {
    for (const std::uint32_t width : {80u, 120u}) {
      std::istringstream lines(brief(finding, width, false));
      int count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_LE(line.size(), width) << line;
      }
      EXPECT_LE(count, 15) << brief(finding, width, false);
    }
  }
}

// Three philosophers at one line: the line is shown once.
Finding deadlock_of_three() {
  Finding finding = deadlock();
  finding.accesses.clear();
  for (int i = 0; i < 3; ++i) {
    const std::string own = "forks[" + std::to_string(i) + "].mutex",
                      next = "forks[" + std::to_string((i + 1) % 3) + "].mutex";
    finding.accesses.push_back(access(Op::kAcquire, next, "T" + std::to_string(i + 1), 50u + static_cast<unsigned>(i),
                                      at("src/table.cc", 8, 57, "philosopher(int)"),
                                      "  std::lock_guard<std::mutex> right(forks[(i + 1) % 3].mutex);", {own}));
  }
  return finding;
}

TEST(TextFindingTest, ThePlaceOfSeveralThreadsIsShownOnce) {
  const std::string text = brief(deadlock_of_three(), 80, false);
  EXPECT_EQ(text.find("std::lock_guard"), text.rfind("std::lock_guard")) << text;
  EXPECT_EQ(text.find("0x7f0012345678"), std::string::npos) << text;
  for (const char* thread : {"by thread T1", "by thread T2", "by thread T3"}) {
    EXPECT_NE(text.find(thread), std::string::npos) << text;
  }
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15) << text;
  Finding twice = hidden_race();
  twice.accesses[0].site = twice.accesses[1].site;
  EXPECT_NE(brief(twice, 0, false).find("19:5  write of 8 bytes by thread T2, holding no lock\n      19 | "),
            std::string::npos);
  EXPECT_NE(brief(twice, 0, false).find("19:5  write of 8 bytes by thread T1, holding no lock\n  only"),
            std::string::npos);
}

TEST(TextFindingTest, TheCommandToCopyStandsAloneWhereThereIsNoRoom) {
  const std::string command = "  replay: sooth replay sooth-bank.json#b44edf796ca1dd06 -- ./bank";
  EXPECT_NE(brief(race(), 120, false).find(command + " (seed 7"), std::string::npos);
  EXPECT_NE(brief(race(), 80, false).find(command + "\n    (seed 7"), std::string::npos);
}

TEST(TextFindingTest, FourLinesTellWhatItLeadsTo) {
  const Finding follower = race();
  for (const std::size_t count : {4u, 5u, 20u}) {
    std::ostringstream out;
    write_brief(race(), std::vector<const Finding*>(count, &follower), {}, {}, Paint(false), out);
    const std::string text = out.str();
    std::size_t lines = 0;
    for (std::size_t at = text.find("leads to: "); at != std::string::npos; at = text.find("leads to: ", at + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, 4u);
    EXPECT_EQ(text.find("leads to: " + std::to_string(count - 3) + " more, with --verbose") != std::string::npos,
              count > 4);
  }
}

TEST(TextFindingTest, SuspicionsThatLookHandedOverAreCounted) {
  Report report;
  const auto text_of = [&](std::size_t suspicions, std::size_t handed) {
    report.findings.assign(suspicions, hidden_race());
    for (std::size_t i = 0; i < suspicions; ++i) {
      report.findings[i].rung = Rung::kSuspected;
      report.findings[i].witness.reset();
      if (i < handed) {
        report.findings[i].hand_over.emplace().verdict = HandOverVerdict::kRecognised;
      }
    }
    std::ostringstream out;
    const SinkInfo* sink = find_sink("text");
    EXPECT_TRUE(sink != nullptr && sink->write(report, {}, out).ok());
    return out.str();
  };
  const std::string rest = " like something that one thread hands to another under a lock.\n";
  EXPECT_NE(text_of(1, 1).find("  It looks" + rest), std::string::npos);
  EXPECT_NE(text_of(3, 3).find("  All of them look" + rest), std::string::npos);
  EXPECT_NE(text_of(3, 1).find("  One of them looks" + rest), std::string::npos);
  EXPECT_NE(text_of(3, 2).find("  2 of them look" + rest), std::string::npos);
  EXPECT_EQ(text_of(3, 0).find(rest), std::string::npos);
}

TEST(TextFindingTest, TheCaretStandsUnderTheColumn) {
  const std::string text = brief(hidden_race(), 0, false);
  EXPECT_NE(text.find("      19 | x = 2;\n         |   ^\n"), std::string::npos) << text;
  const std::string tab = brief(race(), 0, false);
  EXPECT_NE(tab.find("      12 | account.balance += "), std::string::npos) << tab;
  EXPECT_NE(tab.find("         | ^\n"), std::string::npos) << tab;
}

TEST(TextFindingTest, TheCaretOfALongLineIsInSight) {
  Finding finding = hidden_race();
  Access& access = finding.accesses.back();
  access.code = "  for (;;) { " + std::string(100, ';') + " x = 2; " + std::string(100, ';') + " }";
  access.site.column = static_cast<std::uint32_t>(access.code.find("x = 2")) + 1;
  std::istringstream lines(brief(finding, 80, false));
  std::string code, caret;
  while (std::getline(lines, caret) && caret.find("| ") == std::string::npos) {
  }
  std::swap(code, caret);
  std::getline(lines, caret);
  EXPECT_LE(code.size(), 80u) << code;
  EXPECT_NE(code.find("| ..."), std::string::npos) << code;
  EXPECT_EQ(code.find("x = 2"), caret.find('^')) << code << "\n" << caret;
}

TEST(TextFindingTest, LocksAreToldWhereTheyAreKnown) {
  Finding finding = hidden_race();
  for (Access& access : finding.accesses) {
    access.event = EventId{};
  }
  finding.witness.reset();
  EXPECT_EQ(brief(finding, 0, false).find("lock"), std::string::npos) << brief(finding, 0, false);
}

TEST(TextFindingTest, FunctionsAreNamedWhereLinesAreNotKnown) {
  Finding finding = race();
  Site site;
  site.label = site.module = "/home/u/bank/account";
  site.offset = 0x12b6;
  site.function = "deposit(long)";
  finding.accesses[0].site = site;
  finding.accesses[0].code.clear();
  const std::string text = brief(finding, 0, false);
  EXPECT_NE(text.find("account+0x12b6 in deposit(long)  read of 8 bytes"), std::string::npos) << text;
  EXPECT_EQ(text.find("account.cc:12:2 in "), std::string::npos) << text;
}

TEST(TextFindingTest, LibrariesAreFolded) {
  const std::string text = brief(race(), 0, false);
  EXPECT_NE(text.find("through 2 frames in libstdc++"), std::string::npos) << text;
  EXPECT_EQ(text.find("stl_numeric.h"), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("/home/u/bank/src/account.cc:12:2: ")) << text;
}

}  // namespace
}  // namespace sooth
