// The report as one page that needs nothing else: web/ is its source, src/report/html/report.html the page without
// data.
//
// What the page shows comes in blocks of JSON, which no browser runs: one for the list, and one for each finding, which
// the page parses when somebody looks at it. The list and the first finding stand in front of the script, so that it
// can show them before the browser has read the rest. Sentences are made here, by the functions that make them for all
// formats.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "report/describe.h"
#include "report/explain.h"
#include "report/html_page.h"
#include "report/json_writer.h"
#include "report/rung_reason.h"
#include "report/sink.h"
#include "report/sources.h"

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDataMark = "<!--SOOTH-DATA-->";
constexpr std::string_view kMoreMark = "<!--SOOTH-MORE-->";
constexpr std::uint32_t kContextLines = 6;
// Stretches of all witnesses together: a page with more would be too large to open.
constexpr std::size_t kMaxRuns = 500'000;
constexpr std::size_t kMinRunsEach = 500;

// JSON that cannot end or begin anything in HTML: `<` stands in texts only, where an escape means the same.
std::string harmless(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

void write_block(std::ostream& out, const std::string& id, const Json& json) {
  out << "<script type=\"application/json\" id=\"" << id << "\">" << harmless(json) << "</script>\n";
}

const char* state_name(SourceState state) {
  switch (state) {
    case SourceState::kSame: return "same";
    case SourceState::kUnknown: return "unknown";
    case SourceState::kChanged: return "changed";
    case SourceState::kMissing: return "missing";
    case SourceState::kRefused: return "refused";
  }
  return "missing";
}

Json sources_json(const Report& report) {
  Json list = Json::array();
  for (const SourceText& source : read_sources(report, kContextLines)) {
    Json json = {
        {"file", source.file}, {"state", state_name(source.state)}, {"why", source.why}, {"excerpts", Json::array()}};
    for (const SourceExcerpt& excerpt : source.excerpts) {
      json["excerpts"].push_back({{"first", excerpt.first_line}, {"lines", excerpt.lines}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

// A row of the list: what it shows, and what its filters ask for.
Json row_json(const Finding& finding) {
  Json json = {{"id", finding.id},
               {"kind", finding_kind_name(finding.kind)},
               {"rung", rung_name(finding.rung)},
               {"known", finding.known},
               {"found_by", finding.found_by},
               {"headline", headline(finding)},
               {"threads", Json::array()},
               {"places", Json::array()},
               {"files", Json::array()}};
  if (!finding.follows.empty()) {
    json["follows"] = finding.follows;
  }
  std::set<std::string> files;
  for (const Access* access : accesses_primary_first(finding)) {
    json["threads"].push_back(printable(access->thread));
    json["places"].push_back({{"text", place(access->place())}, {"function", printable(access->place().function)}});
    if (!access->place().file.empty() && files.insert(access->place().file).second) {
      json["files"].push_back(access->place().file);
    }
  }
  return json;
}

// How many stretches of a witness the page may hold.
std::size_t runs_for_each(const Report& report) {
  std::size_t total = 0;
  for (const Finding& finding : report.findings) {
    total += finding.witness.has_value() ? finding.witness->runs.size() : 0;
  }
  return total <= kMaxRuns ? total : std::max(kMinRunsEach, kMaxRuns / report.findings.size());
}

// What the page draws of a witness: the last of its stretches tell most. The order event by event is for programs.
void thin_out(Json& witness, std::size_t max_runs) {
  witness.erase("order");
  witness.erase("steps");
  if (!witness.contains("order_runs") || witness["order_runs"].size() <= max_runs) {
    return;
  }
  Json& runs = witness["order_runs"];
  const std::size_t left_out = runs.size() - max_runs;
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(left_out));
  witness["runs_left_out"] = left_out;
}

// A finding with the sentences about it; those on accesses are parallel to `accesses`.
Json detail_json(const Finding& finding, const ReportStats& stats, std::size_t max_runs) {
  Json text = {{"headline", headline(finding)},
               {"explanation", explanation(finding)},
               {"why", why_on_rung(finding, stats)},
               {"attempts", attempts(finding)},
               {"primary", &primary_access(finding) - finding.accesses.data()},
               {"from_trace", is_from_trace(finding)},
               {"deeds", Json::array()},
               {"notes", Json::array()}};
  for (const Access& access : finding.accesses) {
    text["deeds"].push_back({{"deed", deed_in(finding, access)},
                             {"actor", actor(access)},
                             {"locks", held_locks(access)},
                             {"awaited", awaited(finding, access)},
                             {"through", through_libraries(access)},
                             {"place", place(access.place())},
                             {"site", site_json(access.place())}});
  }
  for (const ContextNote& note : context_notes(finding)) {
    Json json = {{"text", note.text}};
    if (note.origin != nullptr) {
      json["site"] = site_json(note.origin->site);
      json["place"] = site_json(note.origin->place());
      json["event"] = raw(note.origin->event);
      json["stack"] = Json::array();
      for (const Site& caller : note.origin->stack) {
        json["stack"].push_back(site_json(caller));
      }
    }
    text["notes"].push_back(std::move(json));
  }
  Json json = finding_json(finding);
  json["text"] = std::move(text);
  if (json.contains("witness")) {
    thin_out(json["witness"], max_runs);
  }
  if (json.contains("replay")) {
    json["replay"].erase("schedule");  // long, and `sooth replay` reads it from the JSON report
  }
  return json;
}

}  // namespace

Status write_html(const Report& report, const SinkOptions& options, std::ostream& out) {
  const std::string_view page = html_page();
  const std::size_t mark = page.find(kDataMark);
  const std::size_t more = page.find(kMoreMark);
  if (mark == std::string_view::npos || more == std::string_view::npos || more < mark) {
    return Status::internal("the page that is built into sooth has no place for the report");
  }
  Json frame = frame_json(report, options);
  frame["version"] = options.version;
  frame["source_texts"] = options.sources ? sources_json(report) : Json::array();
  frame["rows"] = Json::array();
  for (const Finding& finding : report.findings) {
    frame["rows"].push_back(row_json(finding));
  }
  out << page.substr(0, mark);
  write_block(out, "report", frame);
  const std::size_t max_runs = runs_for_each(report);
  const std::string_view script = page.substr(mark + kDataMark.size(), more - mark - kDataMark.size());
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    write_block(out, "finding-" + std::to_string(i), detail_json(report.findings[i], report.stats, max_runs));
    out << (i == 0 ? script : std::string_view());
  }
  out << (report.findings.empty() ? script : std::string_view()) << page.substr(more + kMoreMark.size());
  return {};
}

}  // namespace sooth
