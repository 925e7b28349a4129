// The document as a whole: bytes to JSON, JSON to a report. Its parts are in json_read_*.cc.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/files.h"
#include "report/json.h"
#include "report/json_read.h"

namespace sooth {

static void read_json(const JsonNode& node, SuppressionUse& use) {
  node.get("file", use.file);
  node.get("line", use.line);
  node.get("text", use.text);
  node.get("hits", use.hits);
}

static void read_json(const JsonNode& node, Gap& gap) {
  node.required("kind").get_name(gap.kind, gap_kind_from_name, "kind of gap");
  node.required("text").get(gap.text);
}

static void read_json(const JsonNode& node, ShardOfCampaign& shard) {
  node.get("index", shard.index);
  node.get("count", shard.count);
  node.get("campaign", shard.campaign);
  node.get("tried", shard.tried);
  if (shard.index == 0 || shard.index > shard.count) {
    node.fail("is not one of the parts that it counts");
  }
}

static void read_json(const JsonNode& node, SourceFile& source) {
  node.get("file", source.file);
  node["digest"].get_address(source.digest);
}

static void read_json(const JsonNode& node, ProgramOutcome& outcome) {
  node.get("status", outcome.status);
  node.get("signal", outcome.signal);
}

static void read_json(const JsonNode& root, Report& report) {
  const JsonNode schema = root.required("schema");
  std::string version;
  schema.get(version);
  if (version != kReportSchema) {
    schema.refuse(version, "; this version of sooth reads \"" + std::string(kReportSchema) + "\"");
    return;
  }
  root.get("trace", report.trace);
  root.get("program", report.program);
  root.get("outcome", report.outcome);
  root.get("engine", report.engine);
  root.get("date", report.date);
  root.get("ids", report.id_version);
  root.get("exact", report.exact);
  root.get("stateless", report.stateless);
  root.get("incomplete", report.incomplete);
  root.required("findings").get(report.findings);
  read_shared_runs(root, report.findings);
  root.get("suppressed", report.suppressed);
  root.get("suppressions", report.suppressions);
  root.get("notes", report.notes);
  root.get("not_covered", report.not_covered);
  root.get("shard", report.shard);
  root.get("stats", report.stats);
  root.get("search", report.search);
  root.get("overview", report.overview);
  root.get("sources", report.sources);
}

// "line 3, column 5" of the byte at `offset` (from 0).
static std::string position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - line_start + 1);
}

Result<Report> parse_report(std::string_view text, const std::string& path) {
  // Not ordered_json: that looks for duplicates linearly, and a hostile file may have a million members.
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;  // the library counts from 1
    return Status::bad_input(path + ": " + position(text, offset) + ": this is not valid JSON, so no report of sooth");
  } catch (const nlohmann::json::exception&) {
    return Status::bad_input(path + ": this is no report of sooth: it has a number that is too large for any computer");
  }
  JsonComplaint complaint;
  Report report;
  JsonNode(&json, "", complaint).get(report);
  if (!complaint.text().empty()) {
    return Status::bad_input(path + ": this is no report of sooth that can be read: " + complaint.text());
  }
  return report;
}

Result<Report> read_report(const std::string& path) {
  Result<std::string> text = read_whole_file(path);
  if (!text.ok()) {
    return std::move(text).status();
  }
  return parse_report(*text, path);
}

}  // namespace sooth
