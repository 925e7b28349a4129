// recipe as an analysis among others: what it adds to a report, and what it refuses.
#include "pipeline/recipe_stage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/analysis.h"
#include "recipe/judge/mini_program.h"
#include "trace/memory_trace.h"
#include "trace/text/std_text.h"

namespace sooth {
namespace {

// Figure 1 of RECIPE: x is variable 0, y variable 1; the first thread comes first.
class Figure1 {
 public:
  Figure1() {
    program_.initial = {0, 0};
    program_.threads = {{mini::store(1, 3), mini::store(0, 1), mini::store(1, 5)},
                        {mini::load(0, 1), mini::branch(0, 2, {mini::load(1, 0)}, {mini::load(2, 0)})}};
    text_ = program_.finish();
    recording_ = mini::record(program_, [](std::size_t) { return std::size_t{0}; });
    MemoryTrace& trace = recording_.trace;
    trace.info.columns = kValues | kDeep;
    trace.tables = {};
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      trace.tables.add_thread("T" + std::to_string(thread));
    }
    for (std::size_t e = 0; e < trace.events.size(); ++e) {
      Site site;
      site.label = "event " + std::to_string(e);
      trace.events[e].site = trace.tables.add_site(site);
    }
  }

  Result<Report> analyze(const std::string& with) const {
    MemoryTraceReader reader(recording_.trace);
    AnalysisOptions options;
    options.detectors = *parse_detectors(with);
    options.deep_program = [this] { return DeepProgram::parse(std::span(&text_, 1)); };
    return analyze_trace(reader, options);
  }

 private:
  mini::Program program_;
  DeepModuleText text_;
  mini::Recording recording_;
};

std::size_t unexecuted(const Report& report) {
  return static_cast<std::size_t>(
      std::count_if(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
        return std::any_of(finding.accesses.begin(), finding.accesses.end(),
                           [](const Access& a) { return !a.executed; });
      }));
}

TEST(RecipeStageTest, AddsWhatOtherValuesReach) {
  const Figure1 figure;
  const Result<Report> plain = figure.analyze("mcm");
  const Result<Report> without = figure.analyze("mcm,recipe:s");
  const Result<Report> with = figure.analyze("mcm,recipe:s,recipe");
  ASSERT_TRUE(plain.ok() && without.ok() && with.ok()) << plain.status().message() << with.status().message();
  EXPECT_EQ(plain->findings.size(), 2u) << "the accesses to y";
  EXPECT_EQ(without->findings.size(), 3u);
  EXPECT_EQ(with->findings.size(), 4u);
  EXPECT_EQ(unexecuted(*without), 0u);
  ASSERT_EQ(unexecuted(*with), 1u);
  for (const Finding& finding : with->findings) {
    EXPECT_EQ(finding.rung, Rung::kPredicted);
    EXPECT_EQ(finding.found_by.back().substr(0, 6), "recipe");
    ASSERT_TRUE(finding.witness.has_value());
    EXPECT_TRUE(finding.witness->checked);
  }
  EXPECT_EQ(with->stats.analyses.size(), 3u);
  for (const AnalysisStats& stats : with->stats.analyses) {
    EXPECT_EQ(stats.races, stats.name == "mcm" ? 2u : stats.name == "recipe:s" ? 3u : 4u) << stats.name;
  }
}

TEST(RecipeStageTest, TellsWhatLeadsToAnAccessThatWasNotExecuted) {
  const Result<Report> report = Figure1().analyze("recipe");
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto found = std::find_if(report->findings.begin(), report->findings.end(),
                                  [](const Finding& finding) { return !finding.accesses.back().executed; });
  ASSERT_NE(found, report->findings.end());
  EXPECT_EQ(found->accesses.front().site.label, "event 1");
  EXPECT_EQ(found->accesses.back().thread, "T1");
  EXPECT_EQ(found->accesses.back().op, Op::kRead);
  EXPECT_EQ(found->accesses.back().when, std::vector<std::string>{"what it reads == 0 (read at event 3)"});
  ASSERT_TRUE(found->witness->values.has_value());
  ASSERT_EQ(found->witness->values->next.size(), 2u);
  EXPECT_TRUE(std::any_of(
      found->witness->values->next.begin(), found->witness->values->next.end(),
      [](const ValueSummary::Next& next) { return next.unexecuted.has_value() && next.branch.has_value(); }));
  ASSERT_EQ(found->witness->values->reads.size(), 1u);
  EXPECT_EQ(found->witness->values->reads.front().value, 0u);
}

TEST(RecipeStageTest, RefusesTracesWithoutCode) {
  auto reader = read_std_text("T0|w(x)|1\nT1|w(x)|2\n", "test", {kStacks});
  AnalysisOptions options;
  options.detectors = *parse_detectors("recipe");
  const Result<Report> report = analyze_trace(**reader, options);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("sooth c++ --deep"), std::string::npos) << report.status().message();
  EXPECT_NE(report.status().message().find("record --schedule serial"), std::string::npos);
}

}  // namespace
}  // namespace sooth
