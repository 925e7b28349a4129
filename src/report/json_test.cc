#include "report/json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "report/files.h"
#include "report/sample_reports.h"
#include "report/shared_runs.h"
#include "report/sink.h"

namespace sooth {
namespace {

std::string to_text(const Report& report, const SinkOptions& options = {}) {
  std::ostringstream out;
  EXPECT_TRUE(write_json(report, options, out).ok());
  return out.str();
}

// The sentence that `text` is refused with, or "" when it is taken.
std::string complaint(const std::string& text) {
  const Result<Report> report = parse_report(text, "r.json");
  return report.ok() ? "" : report.status().message();
}

TEST(JsonTest, RandomReportsComeBackEqual) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Report report = random_report(seed);
    const Result<Report> back = parse_report(to_text(report), "r.json");
    ASSERT_TRUE(back.ok()) << "seed " << seed << ": " << back.status().message();
    ASSERT_TRUE(*back == report) << "seed " << seed << ":\n" << to_text(report) << to_text(*back);
  }
}

TEST(JsonTest, SamplesComeBackEqualOnceTheyAreUtf8) {
  for (const auto& [name, report] : sample_reports()) {
    const std::string text = to_text(report);
    const Result<Report> back = parse_report(text, name);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(to_text(*back), text);
    EXPECT_EQ(*back == report, name != "hostile");  // that one has bytes that are no UTF-8, which are replaced
  }
}

TEST(JsonTest, OnlyTimesAreLeftOutOfDeterministicReports) {
  Report report = sample_reports()[0].second;
  SinkOptions options;
  options.deterministic = true;
  const std::string text = to_text(report, options);
  EXPECT_EQ(text.find("seconds"), std::string::npos);
  const Result<Report> back = parse_report(text, "r.json");
  ASSERT_TRUE(back.ok());
  report.stats.seconds = 0;
  report.stats.filter->seconds = 0;
  for (AnalysisStats& analysis : report.stats.analyses) {
    analysis.seconds = 0;
    analysis.seconds_unfiltered.reset();
  }
  EXPECT_TRUE(*back == report);
}

TEST(JsonTest, ALongWitnessHasRunsAndNoOrder) {
  Report report = sample_reports()[1].second;
  report.findings[0].witness.emplace();
  report.findings[0].witness->checked = true;
  EXPECT_NE(to_text(report).find("\"order\": []"), std::string::npos);  // nothing has to run first
  report.findings[0].witness->runs = {{ThreadId{3}, EventId{0}, EventId{20000}}};
  EXPECT_EQ(to_text(report).find("\"order\""), std::string::npos);
  EXPECT_NE(to_text(report).find("\"order_runs\""), std::string::npos);
}

// How witnesses of races all over a trace of a million events look: the way there is mostly the same, in stretches of
// some 50 events; the last of them are each finding's own, and here and there something was taken out.
Report report_on_a_million_events(std::size_t findings) {
  constexpr std::uint64_t kEvents = 1'000'000;
  std::vector<WitnessSummary::Run> way;
  for (std::uint64_t i = 0; i < kEvents; i += 56) {
    way.push_back({ThreadId{static_cast<std::uint32_t>(i / 56 % 4)}, EventId{i}, EventId{i + 150}});
  }
  const Finding model = sample_reports()[1].second.findings[0];
  Report report;
  for (std::size_t k = 0; k < findings; ++k) {
    Finding& finding = report.findings.emplace_back(model);
    finding.id = "race-" + std::to_string(k);
    WitnessSummary& witness = finding.witness.emplace();
    witness.checked = true;
    const std::size_t length = way.size() * (findings + k) / (2 * findings);
    witness.runs.assign(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(length));
    witness.runs.erase(witness.runs.begin() + static_cast<std::ptrdiff_t>(length * k / findings));
    for (std::size_t i = 0; i < 40; ++i) {
      WitnessSummary::Run& run = witness.runs[witness.runs.size() - 1 - i];
      run.last = EventId{raw(run.last) - k % 50};
    }
  }
  return report;
}

TEST(JsonTest, LongWitnessesShareTheirRuns) {
  const Report report = report_on_a_million_events(58);
  const std::string text = to_text(report);
  EXPECT_EQ(text.find("\"order_runs\""), std::string::npos);
  EXPECT_LT(text.size(), 1'500'000u);  // with 250 kB of runs each it would be 13 MB
  const Result<Report> back = parse_report(text, "r.json");
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_TRUE(back->findings == report.findings);
}

TEST(JsonTest, ShortWitnessesKeepTheirRuns) {
  Report report = report_on_a_million_events(1);
  report.findings[0].witness->runs.resize(kMaxOwnRuns);
  EXPECT_EQ(to_text(report).find("\"shared_runs\""), std::string::npos);
  report.findings[0].witness->runs.emplace_back();
  EXPECT_NE(to_text(report).find("\"shared_runs\""), std::string::npos);
}

// A file of 200 kB that stands for more runs than any memory holds.
TEST(JsonTest, RefusesToShareRunsWithoutEnd) {
  std::string text = R"({"schema": "sooth-report/1", "shared_runs": [)";
  for (int i = 0; i < 10'000; ++i) {
    text += i == 0 ? "[0,0,0]" : ",[0,0,0]";
  }
  text += R"(], "findings": [{"kind": "race", "rung": "predicted", "accesses": [{"op": "read", "site": {"label": "1"}},
      {"op": "read", "site": {"label": "1"}}], "witness": {"status": "checked", "order_slices": [)";
  for (int i = 0; i < 10'000; ++i) {
    text += i == 0 ? "[0,10000]" : ",[0,10000]";
  }
  EXPECT_NE(complaint(text + "]}}]}").find("witnesses may share 16000000 runs"), std::string::npos);
}

TEST(JsonTest, UnknownFieldsAreIgnored) {
  EXPECT_EQ(complaint(R"({"schema": "sooth-report/1", "findings": [], "later": {"x": [1]}})"), "");
}

TEST(JsonTest, RefusesWithTheFileAndTheReason) {
  const std::string access = R"({"op": "read", "site": {"label": "1"}})";
  const auto with_finding = [&](const std::string& fields) {
    return R"({"schema": "sooth-report/1", "findings": [{"kind": "race", "rung": "predicted", "accesses": [)" + access +
           ", " + access + "]" + fields + "}]}";
  };
  EXPECT_EQ(complaint(with_finding("")), "");
  const std::pair<std::string, std::string> cases[] = {
      {"", "r.json: line 1, column 1: this is not valid JSON, so no report of sooth"},
      {"{\n  \"schema\": nul }", "r.json: line 2, column 16: this is not valid JSON, so no report of sooth"},
      {"{\"a\": \"\xff\"}", "r.json: line 1, column 8: this is not valid JSON, so no report of sooth"},
      {"[1e999]", "r.json: this is no report of sooth: it has a number that is too large for any computer"},
      {"[]", "the document is an array, not an object"},
      {"null", "the document is null, not an object"},
      {"{}", "schema is missing"},
      {R"({"schema": 1})", "schema is a number, not a text"},
      {R"({"schema": "sooth-report/2"})",
       R"(schema is "sooth-report/2"; this version of sooth reads "sooth-report/1")"},
      {R"({"schema": "sooth-report/1"})", "findings is missing"},
      {R"({"schema": "sooth-report/1", "findings": {}})", "findings is an object, not an array"},
      {R"({"schema": "sooth-report/1", "findings": [7]})", "findings[0] is a number, not an object"},
      {R"({"schema": "sooth-report/1", "findings": [{"kind": "rice"}]})",
       R"(findings[0].kind is "rice", which is no kind of finding)"},
      {R"({"schema": "sooth-report/1", "findings": [{"kind": "race", "rung": "predicted", "accesses": []}]})",
       "findings[0].accesses does not have the two accesses of a race, the three of a violation of atomicity, the one "
       "for each thread of a deadlock or "
       "failure, or the one of a misuse"},
      {with_finding(R"(, "dynamic_pairs": -1)"),
       "dynamic_pairs is a number, not a whole number from 0 to 18446744073709551615"},
      {with_finding(R"(, "dynamic_pairs": 18446744073709551616)"),
       "or too large, not a whole number from 0 to 18446744073709551615"},
      {with_finding(R"(, "distance": 1.5)"), "findings[0].distance is a number with a fraction"},
      {with_finding(R"(, "witness": {"status": "maybe"})"),
       R"(findings[0].witness.status is "maybe", which is no status of a witness)"},
      {with_finding(R"(, "witness": {"status": "checked", "order_runs": [[1, 2]]})"),
       "findings[0].witness.order_runs[0] is not [thread, first event, last event]"},
      {with_finding(R"(, "witness": {"status": "checked", "order_runs": [[4294967296, 2, 3]]})"),
       "order_runs[0][0] is 4294967296, not a whole number from 0 to 4294967295"},
      {with_finding(R"(, "witness": {"status": "checked", "order_slices": [[0]]})"),
       "findings[0].witness.order_slices[0] is not [first of the shared runs, how many]"},
      {with_finding(R"(, "witness": {"status": "checked", "order_slices": [[0, 1]]})"),
       "findings[0].witness.order_slices[0] leads out of the shared runs, of which there are 0"},
      {with_finding(R"(, "witness": {"status": "checked", "drawing": {"rows": [[0, 0, 0, 0, 0]]}})"),
       "witness.drawing.rows[0] is not [position, event, thread, deed, object, site]"},
      {with_finding(
           R"(, "witness": {"status": "checked", "drawing": {"threads": [{"id": 0, "name": ""}], "rows": [[0, 0, 1, 0, 0, 0]]}})"),
       "witness.drawing.rows[0][2] is 1, and the table it points into has 1 rows"},
      {with_finding(R"(, "witness": {"status": "checked", "drawing": {"deeds": [{"op": "sing"}]}})"),
       R"(witness.drawing.deeds[0].op is "sing", which is no operation)"},
      {R"({"schema": "sooth-report/1", "findings": [], "overview": {"kinds": [{"op": 3}]}})",
       "overview.kinds[0].op is a number, not a text"},
      {R"({"schema": "sooth-report/1", "findings": [], "sources": [{"file": "a.cc", "digest": "7"}]})",
       "sources[0].digest is no address"},
      {R"({"schema": "sooth-report/1", "findings": [], "stats": {"analyses": {"hb": 3}}})",
       "stats.analyses.hb is a number, not an object"},
      {R"({"schema": "sooth-report/1", "findings": [], "notes": [null]})", "notes[0] is null, not a text"},
  };
  for (const auto& [text, sentence] : cases) {
    const std::string got = complaint(text);
    EXPECT_TRUE(got.ends_with(sentence) || got.find(sentence) != std::string::npos) << text << "\n" << got;
    EXPECT_TRUE(got.starts_with("r.json: ")) << got;
  }
}

TEST(JsonTest, RefusesAddressesThatAreNone) {
  for (const std::string address :
       {R"("")", R"("0x")", R"("12")", R"("0x1g")", R"("0x10000000000000000")", R"("0x-1")", "-1", "[]"}) {
    const std::string text = R"({"schema": "sooth-report/1", "findings": [{"kind": "deadlock", "rung": "predicted",
        "accesses": [{"op": "read", "site": {"label": ""}, "address": )" +
                             address + "}]}]}";
    const std::string got = complaint(text);
    EXPECT_NE(got.find("findings[0].accesses[0].address is"), std::string::npos) << address << got;
  }
}

TEST(JsonTest, SurvivesDeepNestingAndManyMembers) {
  EXPECT_NE(complaint(std::string(1'000'000, '[')), "");
  EXPECT_NE(complaint(std::string(100'000, '[') + std::string(100'000, ']')), "");
  std::string many = R"({"schema": "sooth-report/1", "findings": [])";
  for (int i = 0; i < 200'000; ++i) {
    many += ",\"k" + std::to_string(i) + "\":0";
  }
  EXPECT_EQ(complaint(many + "}"), "");
}

// Damaged reports are read or refused with a sentence; nothing else happens (run under sanitizers).
TEST(JsonTest, SurvivesDamage) {
  std::mt19937_64 random(1);
  const std::string whole = to_text(sample_reports()[0].second);
  constexpr std::string_view kBytes = "{}[]\",:0123456789-.eEtrufalsn\\ \n\xff";
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    if (random() % 4 == 0) {
      text.resize(random() % text.size());
    }
    const std::string sentence = complaint(text);
    refused += sentence.empty() ? 0 : 1;
    EXPECT_TRUE(sentence.empty() || sentence.starts_with("r.json: "));
  }
  EXPECT_GT(refused, 1000);
}

TEST(JsonTest, SaysWhichFileCannotBeRead) {
  const Result<Report> missing = read_report("/nonexistent/r.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), ExitCode::kBadInput);
  EXPECT_EQ(missing.status().message(), "/nonexistent/r.json: cannot open: No such file or directory");
  EXPECT_EQ(read_report("/").status().message(), "/: cannot read: Is a directory");
}

// Leaves random reports for the schema test (tests/report/validate.mjs) to look at.
TEST(JsonTest, WriteSamplesForTheSchemas) {
  const std::filesystem::path folder = SOOTH_REPORT_SAMPLES;
  std::filesystem::create_directories(folder);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const std::string format : {"json", "sarif", "junit"}) {
      std::ostringstream out;
      ASSERT_TRUE(find_sink(format)->write(random_report(seed), {}, out).ok());
      const std::string path = folder / (std::to_string(seed) + "." + format);
      ASSERT_TRUE(write_whole_file(path, out.str()).ok()) << path;
    }
  }
}

}  // namespace
}  // namespace sooth
