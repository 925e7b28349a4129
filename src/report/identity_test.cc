#include "report/identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "report/baseline.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/redact.h"
#include "report/suppressions.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

class IdentityTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  const fs::path folder_ = fs::temp_directory_path() / ("sooth-identity-test-" + std::to_string(::getpid()));
};

Site at(std::string file, std::uint32_t line, std::string function, std::uint32_t column = 3) {
  Site site;
  site.file = std::move(file);
  site.line = line;
  site.column = column;
  site.function = std::move(function);
  return site;
}

Finding race(const Site& first, const Site& second, const std::string& variable) {
  Finding finding;
  finding.accesses.resize(2);
  finding.accesses[0].site = first;
  finding.accesses[1].site = second;
  finding.accesses[1].op = Op::kWrite;
  for (Access& access : finding.accesses) {
    access.variable = variable;
  }
  return finding;
}

std::string id_of(Finding finding, const IdentityOptions& options = {}) {
  Identifier(options).identify(finding);
  return finding.id;
}

TEST_F(IdentityTest, LinesMayMoveAndChangeTheirBlanks) {
  const std::string before = write("a/x.cc", "int x;\nvoid f() {\n  x++;\n}\n");
  const std::string after = write("b/x.cc", "// top\n\nint x;\nvoid f() {\n\tx++;  // said\n}\n");
  const Site old = at(before, 3, "f()");
  const Site moved = at(after, 5, "f", 9);
  EXPECT_EQ(id_of(race(old, old, "x")), id_of(race(moved, moved, "x")));
  EXPECT_NE(id_of(race(old, old, "x")), id_of(race(old, old, "y")));
  EXPECT_NE(id_of(race(old, old, "x")), id_of(race(at(before, 2, "f()"), old, "x")));
  EXPECT_NE(id_of(race(old, old, "x")), id_of(race(at(before, 3, "g()"), old, "x")));
}

TEST_F(IdentityTest, WhoKnowsLessOfTheVariableIsTheSameRace) {
  const Site site = at(write("x.cc", "a\nb\n"), 1, "f"), other = at(write("x.cc", "a\nb\n"), 2, "f");
  const auto with = [](Finding finding, MemoryKind kind, const std::string& name) {
    MemoryContext memory;
    memory.kind = kind;
    memory.name = name;
    memory.function = kind == MemoryKind::kStack ? "f()" : "";
    finding.context.memory = memory;
    return finding;
  };
  Report report;
  report.findings = {race(site, other, ""), race(site, site, ""),
                     with(race(other, site, "n"), MemoryKind::kGlobal, "n"),
                     with(race(site, other, "n of f()"), MemoryKind::kStack, "n")};
  report.findings[0].rung = Rung::kConfirmed;
  Identifier identifier;
  identifier.identify(report);
  const std::string known = report.findings[3].id;
  report.findings[0].replay.emplace().command = "sooth replay r.json#" + report.findings[0].id + " -- ./p";
  merge_equal_findings(report);
  ASSERT_EQ(report.findings.size(), 2u) << "other places are another race";
  EXPECT_EQ(report.findings[0].id, known);
  EXPECT_EQ(report.findings[0].rung, Rung::kConfirmed);
  EXPECT_EQ(report.findings[0].accesses[0].variable, "n of f()");
  EXPECT_EQ(report.findings[0].replay->command, "sooth replay r.json#" + known + " -- ./p");
  // Two variables are two races.
  report.findings = {with(race(site, other, "m"), MemoryKind::kGlobal, "m"),
                     with(race(site, other, "n"), MemoryKind::kGlobal, "n")};
  Identifier().identify(report);
  merge_equal_findings(report);
  EXPECT_EQ(report.findings.size(), 2u);
}

TEST_F(IdentityTest, APartAndTheWholeAreOneVariableWhoeverComesFirst) {
  const Site site = at(write("x.cc", "a\nb\n"), 1, "f");
  const auto mixed = [&](const std::string& first, const std::string& second) {
    Finding finding = race(site, site, first);
    finding.accesses[1].variable = second;
    return id_of(finding);
  };
  EXPECT_EQ(mixed("text[0..11]", "text[4]"), mixed("text[0]", "text[0..11]"));
  EXPECT_EQ(mixed("point", "point.x"), mixed("point.y", "point"));
  EXPECT_NE(mixed("point.x", "point.x"), mixed("point.y", "point.y"));
}

TEST_F(IdentityTest, ElementsAreOneVariableAndMembersAreSeveral) {
  const Site site = at(write("x.cc", "a\nb\n"), 1, "f");
  EXPECT_EQ(id_of(race(site, site, "cells[3]")), id_of(race(site, site, "cells[12]")));
  EXPECT_EQ(id_of(race(site, site, "cells+16")), id_of(race(site, site, "cells")));
  EXPECT_NE(id_of(race(site, site, "cells[3].low")), id_of(race(site, site, "cells[3].high")));
}

TEST_F(IdentityTest, TheUsersFrameCountsNotTheLibrarys) {
  const Site mine = at(write("x.cc", "v.push_back(1);\n"), 1, "add");
  Finding size = race(at("/usr/include/c++/12/bits/stl_vector.h", 988, "std::vector<int>::size()"), mine, "v");
  size.accesses[0].stack = {mine};
  Finding end = size;
  end.accesses[0].site.line = 1283;
  EXPECT_EQ(id_of(size), id_of(end));
  EXPECT_NE(pair_key(size, {}), pair_key(end, {}));
  Identifier().identify(size);
  EXPECT_EQ(size.accesses[0].frame, 1u);
  EXPECT_EQ(size.accesses[0].place(), mine);
  EXPECT_EQ(size.accesses[0].code, "v.push_back(1);");
}

TEST_F(IdentityTest, BlocksAreToldApartByWhereTheyWereAllocated) {
  const std::string file = write("x.cc", "bump(p);\np = new int;\nq = new int;\n");
  Finding p = race(at(file, 1, "f"), at(file, 1, "f"), "");
  p.context.memory.emplace();
  p.context.memory->allocated.emplace();
  p.context.memory->allocated->site = at(file, 2, "main");
  Finding q = p;
  q.context.memory->allocated->site.line = 3;
  EXPECT_NE(id_of(p), id_of(q));
}

TEST_F(IdentityTest, EqualLinesHaveAnOrdinal) {
  const std::string file = write("x.cc", "x++;\nx++;\n");
  EXPECT_NE(id_of(race(at(file, 1, "f"), at(file, 1, "f"), "x")), id_of(race(at(file, 2, "f"), at(file, 2, "f"), "x")));
}

TEST_F(IdentityTest, PathsAreThoseInTheWorkingCopy) {
  write("one/.git/HEAD", "");
  write("two/.git/HEAD", "");
  const Site one = at(write("one/src/x.cc", "x++;\n"), 1, "f");
  const Site two = at(write("two/src/x.cc", "x++;\n"), 1, "f");
  const Site lib = at(write("two/lib/x.cc", "x++;\n"), 1, "f");
  EXPECT_EQ(id_of(race(one, one, "x")), id_of(race(two, two, "x")));
  EXPECT_NE(id_of(race(two, two, "x")), id_of(race(lib, lib, "x")));
  const IdentityOptions rooted{{}, (folder_ / "two/lib").string()};
  EXPECT_NE(id_of(race(lib, lib, "x"), rooted), id_of(race(lib, lib, "x")));
}

TEST_F(IdentityTest, ReadAndWriteOfTheSameLinesAreOneFindingWithTwoConflicts) {
  const Site site = at(write("x.cc", "x++;\n"), 1, "f");
  Report report;
  report.findings = {race(site, site, "x"), race(site, site, "x")};
  report.findings[1].accesses[0].op = Op::kWrite;
  report.findings[1].accesses[0].site.column = 7;
  fill_fingerprints(report);
  merge_equal_findings(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].conflicts, (std::vector<std::string>{"read/write", "write/write"}));
  EXPECT_EQ(report.id_version, kIdVersion);
}

TEST_F(IdentityTest, OldBaselinesAreUpgraded) {
  const std::string file = write("x.cc", "x++;\n");
  Finding old = race(at(file, 1, "f()"), at(file, 1, "f()"), "x");
  old.id = fingerprint(old);
  Report baseline;
  baseline.findings = {old};
  write("x.cc", "// more\nx++;\n");
  Report now;
  now.findings = {race(at(file, 2, "f()"), at(file, 2, "f()"), "x"), race(at(file, 2, "f()"), at(file, 2, "f()"), "y")};
  fill_fingerprints(now);
  write("x.cc", "x++;\n");  // as it was when the baseline was made
  EXPECT_FALSE(upgrade_ids(baseline));
  mark_known(now, baseline);
  EXPECT_TRUE(now.findings[0].known);
  EXPECT_FALSE(now.findings[1].known) << "another variable";
}

TEST_F(IdentityTest, ASuppressionOfOneVariableLeavesTheOther) {
  const Site site = at(write("x.cc", "v.push_back(1);\n"), 1, "add");
  Report report;
  report.findings = {race(site, site, "orders"), race(site, site, "prices")};
  fill_fingerprints(report);
  merge_equal_findings(report);
  Suppressions suppressions;
  ASSERT_TRUE(suppressions.parse("race:orders\n", "file").ok());
  suppressions.apply(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].accesses[0].variable, "prices");
}

TEST(IdentityTextTest, BareLines) {
  EXPECT_EQ(bare_line("  x  =  1;\t// why"), "x = 1;");
  EXPECT_EQ(bare_line("puts(\"a  // b\");"), "puts(\"a  // b\");");
  EXPECT_EQ(bare_line("c = '\"'; n = 1'000; // x"), "c = '\"'; n = 1'000;");
  EXPECT_EQ(bare_line(""), "");
}

TEST(RedactTest, NothingOfTheMachineIsLeft) {
  Report report;
  report.program = "/home/u/prog --key secret";
  report.trace = "/home/u/traces/t1";
  report.notes = {"/home/u/prog has no debug information", "see a/b"};
  Finding finding = race(at("/home/u/src/x.cc", 1, "f"), at("/home/u/src/x.cc", 2, "g"), "x");
  finding.accesses[0].code = "key = 42;";
  finding.replay.emplace();
  finding.replay->command = "sooth replay /tmp/r.json#0123 -- /home/u/prog --key secret";
  finding.replay->schedule = "program /home/u/prog --key secret";
  finding.replay->outcome = "exit status 0, but it printed \"secret\"";
  finding.replay->preemptions = {"preempt T1 after the read at /home/u/src/x.cc:1:2, and let T2 run"};
  finding.replay->older_values = {"T1 read 42 from `key`"};
  report.findings = {finding};
  redact(report);
  EXPECT_EQ(report.program, "prog");
  EXPECT_EQ(report.trace, "t1");
  EXPECT_EQ(report.notes, (std::vector<std::string>{"prog has no debug information", "see a/b"}));
  EXPECT_EQ(report.findings[0].accesses[0].site.file, "x.cc");
  EXPECT_EQ(report.findings[0].accesses[0].code, "");
  EXPECT_EQ(report.findings[0].replay->command, "sooth replay r.json#0123 -- prog");
  EXPECT_EQ(report.findings[0].replay->schedule, "");
  EXPECT_EQ(report.findings[0].replay->outcome, "exit status 0");
  EXPECT_EQ(report.findings[0].replay->preemptions,
            (std::vector<std::string>{"preempt T1 after the read at x.cc:1:2, and let T2 run"}));
  EXPECT_TRUE(report.findings[0].replay->older_values.empty());
}

// ... but where a reader has to look.
TEST(RedactTest, TheUsersCodeIsStillTold) {
  Report report;
  Finding finding = race(at("/usr/include/c++/12/bits/move.h", 206, "std::swap"), at("/home/u/src/x.cc", 2, "g"), "x");
  finding.accesses[0].stack = {at("/home/u/src/x.cc", 9, "f")};
  report.findings = {finding};
  redact(report);
  Identifier().identify(report);
  EXPECT_EQ(report.findings[0].accesses[0].place().file, "x.cc");
  EXPECT_EQ(report.findings[0].accesses[0].place().line, 9u);
}

}  // namespace
}  // namespace sooth
