#include "report/fingerprint.h"

#include <gtest/gtest.h>

#include "report/group.h"
#include "report/sample_reports.h"

namespace sooth {
namespace {

Finding pair_of(Site first, Site second) {
  Finding finding;
  finding.accesses.resize(2);
  finding.accesses[0].site = std::move(first);
  finding.accesses[1].site = std::move(second);
  return finding;
}

Site in_source(std::string file, std::uint32_t line, std::uint32_t column, std::string function) {
  Site site;
  site.file = std::move(file);
  site.line = line;
  site.column = column;
  site.function = std::move(function);
  return site;
}

Site with_label(std::string label) {
  Site site;
  site.label = std::move(label);
  return site;
}

// These values stand in the baselines of users. If this test fails, the code is wrong, not the test.
TEST(FingerprintTest, NeverChanges) {
  EXPECT_EQ(fingerprint(pair_of(in_source("a.cc", 12, 3, "f()"), in_source("b.cc", 7, 0, ""))), "0f5c376b4f956021");
  EXPECT_EQ(fingerprint(pair_of(with_label("345"), with_label("12"))), "cd631ba9cfa62ac3");
  Site in_module;
  in_module.module = "/bin/x";
  in_module.offset = 0x1234;
  EXPECT_EQ(fingerprint(pair_of(in_module, in_module)), "f937ec1b49631610");
  Finding deadlock = pair_of(with_label("345"), with_label("12"));
  deadlock.kind = FindingKind::kDeadlock;
  EXPECT_EQ(fingerprint(deadlock), "af9f30b2fff9599b");
}

TEST(FingerprintTest, DependsOnNothingThatChangesFromRunToRun) {
  const Finding plain = pair_of(in_source("a.cc", 12, 3, "f()"), with_label("x"));
  Finding other = pair_of(with_label("x"), in_source("a.cc", 12, 3, "f()"));  // the other way round
  other.accesses[0].thread = "T9";
  other.accesses[0].address = 77;
  other.accesses[0].event = EventId{5};
  other.accesses[0].variable = "v";
  other.accesses[1].site.module = "/elsewhere/x.so";  // where the program was installed
  other.accesses[1].site.offset = 4;
  other.accesses[1].site.label = "a.cc:12:3";
  other.rung = Rung::kHarmful;
  EXPECT_EQ(fingerprint(plain), fingerprint(other));
}

TEST(FingerprintTest, DiffersForDifferentPlaces) {
  const std::string id = fingerprint(pair_of(in_source("a.cc", 12, 3, "f"), with_label("x")));
  EXPECT_NE(id, fingerprint(pair_of(in_source("a.cc", 12, 4, "f"), with_label("x"))));
  EXPECT_NE(id, fingerprint(pair_of(in_source("a.cc", 1, 23, "f"), with_label("x"))));
  EXPECT_NE(id, fingerprint(pair_of(in_source("a.cc", 12, 3, "g"), with_label("x"))));
  EXPECT_NE(id, fingerprint(pair_of(in_source("b.cc", 12, 3, "f"), with_label("x"))));
  EXPECT_NE(fingerprint(pair_of(with_label("a"), with_label("bc"))),
            fingerprint(pair_of(with_label("ab"), with_label("c"))));
}

TEST(FingerprintTest, KeepsIdsThatAreThere) {
  Report report;
  report.findings = {pair_of(with_label("1"), with_label("2")), pair_of(with_label("1"), with_label("2"))};
  report.findings[0].id = "mine";
  fill_fingerprints(report);
  EXPECT_EQ(report.findings[0].id, "mine");
  EXPECT_EQ(report.findings[1].id, fingerprint(report.findings[1]));
}

Finding found(std::string id, Rung rung, std::vector<std::string> by, std::uint64_t pairs, std::uint64_t distance,
              std::uint64_t event) {
  Finding finding = pair_of(with_label("1"), with_label("2"));
  finding.id = std::move(id);
  finding.rung = rung;
  finding.found_by = std::move(by);
  finding.dynamic_pairs = pairs;
  finding.distance = distance;
  finding.accesses[0].event = EventId{event};
  finding.accesses[1].event = EventId{event + distance};
  return finding;
}

TEST(GroupTest, EqualIdsBecomeOneFindingWithTheBestProof) {
  Report report;
  for (const char* name : {"hb", "wcp", "lockset"}) {
    report.stats.analyses.emplace_back().name = name;
  }
  report.findings = {
      found("b", Rung::kPredicted, {"wcp"}, 1, 9, 50), found("a", Rung::kSuspected, {"lockset"}, 5, 2, 10),
      found("a", Rung::kPredicted, {"wcp", "hb"}, 7, 30, 60), found("a", Rung::kPredicted, {"wcp"}, 1, 40, 3)};
  report.findings[1].known = true;
  report.findings[3].observed = true;
  merge_equal_findings(report);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].id, "b");  // same rung, earlier event
  const Finding& a = report.findings[1];
  EXPECT_EQ(a.rung, Rung::kPredicted);
  EXPECT_EQ(a.found_by, (std::vector<std::string>{"hb", "wcp", "lockset"}));
  EXPECT_EQ(a.dynamic_pairs, 13u);
  EXPECT_EQ(a.distance, 2u);
  EXPECT_EQ(a.accesses[0].event, EventId{60});
  EXPECT_TRUE(a.known);
  EXPECT_TRUE(a.observed);
}

// A witness speaks of two particular events: it must not end up beside others.
TEST(GroupTest, AWitnessStaysWithItsAccesses) {
  Report report;
  report.findings = {found("a", Rung::kPredicted, {"hb"}, 1, 1, 10), found("a", Rung::kPredicted, {"wcp"}, 1, 1, 20)};
  report.findings[1].witness.emplace();
  report.findings[1].witness->checked = true;
  Report reversed = report;
  std::swap(reversed.findings[0], reversed.findings[1]);
  for (Report* r : {&report, &reversed}) {
    merge_equal_findings(*r);
    ASSERT_EQ(r->findings.size(), 1u);
    EXPECT_TRUE(r->findings[0].witness.has_value());
    EXPECT_EQ(r->findings[0].accesses[0].event, EventId{20});
  }
  report.findings.insert(report.findings.begin(), found("a", Rung::kConfirmed, {"hb"}, 1, 1, 30));
  merge_equal_findings(report);
  EXPECT_FALSE(report.findings[0].witness.has_value());
}

TEST(GroupTest, OfFindingsThatBeginTogetherTheOneThatEndsFirstComesFirst) {
  Report report;
  report.findings = {found("late", Rung::kPredicted, {"hb"}, 1, 1, 10),
                     found("early", Rung::kPredicted, {"hb"}, 1, 1, 10)};
  report.findings[0].accesses.emplace_back().event = EventId{30};
  report.findings[1].accesses.emplace_back().event = EventId{20};
  merge_equal_findings(report);
  EXPECT_EQ(report.findings[0].id, "early");
}

TEST(GroupTest, WhatTookADelayComesLastOfItsRungAndProvesLess) {
  Report report;
  report.findings = {found("delayed", Rung::kConfirmed, {"hb"}, 1, 1, 10),
                     found("usual", Rung::kConfirmed, {"hb"}, 1, 1, 20),
                     found("guess", Rung::kSuspected, {"hb"}, 1, 1, 1)};
  report.findings[0].replay.emplace().by_delay = true;
  report.findings[1].replay.emplace();
  merge_equal_findings(report);
  EXPECT_EQ(report.findings[0].id, "usual");
  EXPECT_EQ(report.findings[1].id, "delayed");
  report.findings[0].id = "delayed";
  merge_equal_findings(report);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_FALSE(is_by_delay(report.findings[0]));
}

TEST(GroupTest, MergingTwiceChangesNothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Report report = random_report(seed);
    report.findings.insert(report.findings.end(), report.findings.begin(), report.findings.end());
    merge_equal_findings(report);
    const Report once = report;
    merge_equal_findings(report);
    EXPECT_TRUE(report == once) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sooth
