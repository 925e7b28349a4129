#include "report/suppressions.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

TEST(TemplateTest, MatchesAsThreadSanitizerDoes) {
  struct Case {
    std::string_view pattern, text;
    bool matches;
  };
  const Case cases[] = {
      {"foo", "foo", true},      {"foo", "a foo b", true},
      {"foo", "fo", false},      {"^foo", "foobar", true},
      {"^foo", "a foo", false},  {"foo$", "a foo", true},
      {"foo$", "foo b", false},  {"foo$", "foo foo", true},
      {"^foo$", "foo", true},    {"^foo$", "foofoo", false},
      {"a*c", "xabcx", true},    {"a*c", "xcxa", false},
      {"^a*c$", "abc", true},    {"^a*c$", "abcd", false},
      {"^a*c$", "ac", true},     {"*", "x", true},
      {"*", "", false},          {"foo", "", false},
      {"^*foo", "a foo", true},  {"foo*$", "foo b", true},
      {"a**b", "ab", true},      {"^ab*ba$", "aba", false},
      {"^ab*ba$", "abba", true}, {"a*a", "a", false},
      {"a$b", "xa$bx", true},    {"std::*<int>::push", "std::vector<int>::push_back", true},
      {"a*b*c", "a-c-b", false}, {"a*b*c", "a-b-a-c", true},
      {"^", "x", true},          {"$", "x", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(matches_template(c.pattern, c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

Site frame(std::string function, std::string file, std::string module) {
  Site site;
  site.function = std::move(function);
  site.file = std::move(file);
  site.module = std::move(module);
  return site;
}

// A misuse of a lock; kThreadLeak makes it one of a thread.
Report report_with(FindingKind kind, MisuseKind misuse = MisuseKind::kDoubleLock) {
  Finding finding;
  finding.kind = kind;
  if (kind == FindingKind::kMisuse) {
    finding.misuse = misuse;
  }
  finding.context.threads = {{"T1", {"T0", EventId{0}, frame("start_thread()", "start.cc", "/lib/libpool.so"), {}}}};
  finding.id = "0";
  finding.accesses.resize(2);
  finding.accesses[0].site = frame("top_one()", "one.cc", "/lib/libone.so");
  finding.accesses[0].variable = "counter";
  finding.accesses[0].stack = {frame("caller_one()", "callers.h", "/bin/app")};
  finding.accesses[1].site = frame("top_two()", "two.cc", "/bin/app");
  finding.accesses[1].site.label = "label345";
  finding.accesses[1].stack = {frame("caller_two()", "callers.h", "/lib/libtwo.so")};
  Report report;
  report.findings = {finding};
  return report;
}

TEST(SuppressionsTest, EachTypeLooksWhereItShould) {
  struct Case {
    std::string_view rule;
    bool race, deadlock, mutex, leak, signal;
  };
  const Case cases[] = {
      {"race:top_one", true, false, false, false, false},
      {"race:caller_two", true, false, false, false, false},
      {"race:^two.cc$", true, false, false, false, false},
      {"race:libtwo", true, false, false, false, false},
      {"race:^counter$", true, false, false, false, false},
      {"race:label345", true, false, false, false, false},
      {"race:nowhere", false, false, false, false, false},
      {"race:start_thread", true, false, false, false, false},
      {"race_top:top_two", true, false, false, false, false},
      {"race_top:caller_one", false, false, false, false, false},
      {"race_top:one.cc", true, false, false, false, false},
      {"race_top:counter", false, false, false, false, false},
      {"race_top:start_thread", false, false, false, false, false},
      {"deadlock:caller_one", false, true, false, false, false},
      {"deadlock:start.cc", false, true, false, false, false},
      {"deadlock:nowhere", false, false, false, false, false},
      {"called_from_lib:libtwo", true, true, true, true, true},
      {"called_from_lib:top_one", false, false, false, false, false},
      {"called_from_lib:libpool", false, false, false, false, false},
      {"mutex:top_one", false, false, true, false, false},
      {"mutex:start_thread", false, false, true, false, false},
      {"mutex:nowhere", false, false, false, false, false},
      {"thread:caller_two", false, false, false, true, false},
      {"thread:nowhere", false, false, false, false, false},
      {"signal:*", false, false, false, false, true},
      {"signal:top_one", false, false, false, false, true},
      {"signal:nowhere", false, false, false, false, false},
  };
  for (const Case& c : cases) {
    const std::pair<Report, bool> reports[] = {
        {report_with(FindingKind::kRace), c.race},
        {report_with(FindingKind::kDeadlock), c.deadlock},
        {report_with(FindingKind::kMisuse), c.mutex},
        {report_with(FindingKind::kMisuse, MisuseKind::kThreadLeak), c.leak},
        {report_with(FindingKind::kMisuse, MisuseKind::kSignalUnsafe), c.signal},
    };
    for (auto [report, expected] : reports) {
      const std::string_view kind = finding_kind_name(report.findings[0].kind);
      Suppressions suppressions;
      ASSERT_TRUE(suppressions.parse(c.rule, "s").ok());
      suppressions.apply(report);
      EXPECT_EQ(report.findings.empty(), expected) << c.rule << " on a " << kind;
      EXPECT_EQ(report.suppressed, expected ? 1u : 0u);
      ASSERT_EQ(report.suppressions.size(), 1u);
      EXPECT_EQ(report.suppressions[0].hits, expected ? 1u : 0u);
    }
  }
}

TEST(SuppressionsTest, CountsEveryRuleAndKeepsTheOrderOfFiles) {
  Suppressions suppressions;
  ASSERT_TRUE(suppressions.parse("# comment\n\n  race:top_one  \r\nrace:top_two\n", "first").ok());
  ASSERT_TRUE(suppressions.parse("\trace:unused", "second").ok());
  Report report = report_with(FindingKind::kRace);
  report.findings.push_back(report.findings[0]);
  report.findings[1].accesses[0].site.function = "other";
  report.findings[1].accesses[1].site.function = "other";
  suppressions.apply(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].accesses[0].site.function, "other");
  EXPECT_EQ(report.suppressed, 1u);
  EXPECT_EQ(report.suppressions,
            (std::vector<SuppressionUse>{
                {"first", 3, "race:top_one", 1}, {"first", 4, "race:top_two", 1}, {"second", 1, "race:unused", 0}}));
}

TEST(SuppressionsTest, RefusesWhatItCannotUnderstand) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\nrice:foo",
       "s.txt:2: unknown type of suppression \"rice\"; there are race, race_top, deadlock, mutex, thread, "
       "signal and called_from_lib"},
      {"foo", "s.txt:1: a suppression is TYPE:PATTERN, as in `race:foo`; this line has no colon"},
      {"race: ", "s.txt:1: the suppression has no pattern; `race:*` matches everything"},
      {"Race:foo\x1b", "s.txt:1: unknown type of suppression \"Race\""},
  };
  for (const auto& [text, sentence] : cases) {
    const Status status = Suppressions().parse(text, "s.txt");
    EXPECT_EQ(status.code(), ExitCode::kBadInput);
    EXPECT_TRUE(status.message().starts_with(sentence)) << status.message();
  }
  EXPECT_EQ(Suppressions().read("/nonexistent").code(), ExitCode::kBadInput);
}

}  // namespace
}  // namespace sooth
