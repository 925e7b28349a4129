// The data in the page; tests/html looks at what browsers make of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "report/html_page.h"
#include "report/sample_reports.h"
#include "report/sink.h"

namespace sooth {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"";
constexpr std::string_view kMark = "<!--SOOTH-DATA-->";
constexpr std::string_view kMore = "<!--SOOTH-MORE-->";

std::string html(const Report& report) {
  std::ostringstream out;
  SinkOptions options;
  options.deterministic = true;
  options.version = "1.2.3";
  EXPECT_TRUE(write_html(report, options, out).ok());
  return out.str();
}

// What stands where the page has its mark.
std::string data_of(const std::string& page) {
  const std::string_view empty = html_page();
  const std::size_t mark = empty.find(kMark);
  EXPECT_EQ(page.substr(0, mark), empty.substr(0, mark));
  const std::size_t more = empty.find(kMore);
  const std::string_view script = empty.substr(mark + kMark.size(), more - mark - kMark.size());
  const std::string_view tail = empty.substr(more + kMore.size());
  EXPECT_TRUE(page.ends_with(tail));
  std::string data = page.substr(mark, page.size() - mark - tail.size());
  const std::size_t at = data.find(script);
  EXPECT_NE(at, std::string::npos);
  return data.erase(at, script.size());
}

// The blocks by id, found as a browser finds them: up to the first "</script".
std::vector<std::pair<std::string, Json>> blocks_of(std::string_view data) {
  std::vector<std::pair<std::string, Json>> blocks;
  while (data.starts_with(kOpen)) {
    data.remove_prefix(kOpen.size());
    const std::size_t quote = data.find("\">");
    const std::size_t end = data.find("</script");
    blocks.emplace_back(data.substr(0, quote), Json::parse(data.substr(quote + 2, end - quote - 2)));
    EXPECT_TRUE(data.substr(end).starts_with("</script>\n"));
    data.remove_prefix(end + 10);
  }
  EXPECT_EQ(data, "");
  return blocks;
}

TEST(HtmlTest, OneBlockForTheListAndOneForEachFinding) {
  for (const auto& [name, report] : sample_reports()) {
    SCOPED_TRACE(name);
    const auto blocks = blocks_of(data_of(html(report)));
    ASSERT_EQ(blocks.size(), 1 + report.findings.size());
    EXPECT_EQ(blocks[0].first, "report");
    EXPECT_EQ(blocks[0].second["rows"].size(), report.findings.size());
    EXPECT_EQ(blocks[0].second["version"], "1.2.3");
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
      EXPECT_EQ(blocks[i + 1].first, "finding-" + std::to_string(i));
      EXPECT_EQ(blocks[i + 1].second["id"], report.findings[i].id);
      EXPECT_EQ(blocks[i + 1].second["text"]["deeds"].size(), report.findings[i].accesses.size());
    }
  }
}

// Whatever the names are, none of them leaves its block.
TEST(HtmlTest, NothingInAReportIsMarkup) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Report report = random_report(seed);
    const std::string data = data_of(html(report));
    EXPECT_EQ(blocks_of(data).size(), 1 + report.findings.size()) << "seed " << seed;
    EXPECT_EQ(data.find("<!--"), std::string::npos);
    EXPECT_EQ(data.find("<b>"), std::string::npos) << "seed " << seed;
  }
}

// A thousand long witnesses would make a page that no browser opens.
TEST(HtmlTest, LongWitnessesShareTheRoom) {
  Report report;
  Finding finding = sample_reports()[0].second.findings[0];
  finding.witness->runs.assign(400'000, {ThreadId{1}, EventId{7}, EventId{8}});
  finding.witness->runs.back().thread = ThreadId{2};
  report.findings = {finding, finding};
  for (const auto& [id, json] : blocks_of(data_of(html(report)))) {
    if (id != "report") {
      EXPECT_EQ(json["witness"]["order_runs"].size(), 250'000u);
      EXPECT_EQ(json["witness"]["order_runs"].back()[0], 2);
      EXPECT_EQ(json["witness"]["runs_left_out"], 150'000);
    }
  }
  report.findings.pop_back();
  const Json alone = blocks_of(data_of(html(report)))[1].second;
  EXPECT_EQ(alone["witness"]["order_runs"].size(), 400'000u);
  EXPECT_FALSE(alone["witness"].contains("runs_left_out"));
}

TEST(HtmlTest, ThePageAsksForNothingFromOutside) {
  const std::string_view page = html_page();
  EXPECT_NE(page.find("http-equiv=\"Content-Security-Policy\""), std::string_view::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string_view::npos);
  for (const std::string_view text : {" src=\"", "@import", "url(", "<link rel=\"stylesheet\""}) {
    EXPECT_EQ(page.find(text), std::string_view::npos) << text;
  }
}

}  // namespace
}  // namespace sooth
