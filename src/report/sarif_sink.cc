// SARIF 2.1.0 (OASIS), the format that code scanning services take. Section numbers below are those of the standard.
#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/describe.h"
#include "report/json_print.h"
#include "report/rung_reason.h"
#include "report/sink.h"

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchemaUri[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

const char* level(Rung rung) {
  switch (rung) {
    case Rung::kSuspected: return "note";
    case Rung::kPredicted: return "warning";
    case Rung::kConfirmed:
    case Rung::kHarmful: return "error";
  }
  return "none";
}

// The rule says what is wrong, the level how sure that is: a finding that moves up the ladder stays the same alert.
std::string rule_id(FindingKind kind) { return std::string(finding_kind_name(kind)); }

constexpr const char* kFailureExplanation =
    "A run of the program crashed or did not end; the schedule makes it happen again.";
constexpr char kMisuseExplanation[] = "The recorded run itself broke a rule of locks, threads, signals or the heap.";

constexpr char kLadder[] =
    "note: suspected by an analysis that can be wrong. warning: predicted, because the recorded run leaves the "
    "accesses "
    "unordered or a checked reordering of it leads there. error: confirmed by a controlled run of the program, or "
    "harmful, "
    "because that run then failed.";

// 3.11.5 and 3.11.6: braces mark placeholders and [text](target) is a link; names may hold both.
Json message(const std::string& text) {
  const bool like_a_link = text.find("](") != std::string::npos;
  std::string escaped;
  for (const char c : text) {
    if (c == '{' || c == '}') {
      escaped.push_back(c);
    } else if (like_a_link && (c == '[' || c == ']' || c == '\\')) {
      escaped.push_back('\\');
    }
    escaped.push_back(c);
  }
  return {{"text", escaped}};
}

Json rules() {
  Json list = Json::array();
  for (int k = 0; k < kFindingKindCount; ++k) {
    const FindingKind kind = FindingKind(k);
    const bool failure = kind >= FindingKind::kCrash;
    std::string name(kind_phrase(kind));
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    list.push_back({{"id", rule_id(kind)},
                    {"shortDescription", message(name + ".")},
                    {"fullDescription", message(failure                        ? kFailureExplanation
                                                : kind == FindingKind::kMisuse ? kMisuseExplanation
                                                                               : kLadder)},
                    {"defaultConfiguration", {{"level", failure ? "error" : "warning"}}},
                    {"properties", {{"tags", Json::array({"concurrency", finding_kind_name(kind)})}}}});
  }
  return list;
}

// A path as a URI reference (RFC 3986): what is not unreserved is escaped byte by byte, so any bytes will do.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (std::size_t i = 0; i < path.size(); ++i) {
    // "//host/x" would name a host.
    if (path[i] == '/' && i == 1 && path[0] == '/') {
      continue;
    }
    if (kPlain.find(path[i]) != std::string_view::npos) {
      uri.push_back(path[i]);
    } else {
      const auto byte = static_cast<unsigned char>(path[i]);
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

Json physical_location(const Site& site) {
  Json json = Json::object();
  if (!site.file.empty()) {
    json["artifactLocation"]["uri"] = uri_of(site.file);
    if (!site.file.starts_with('/')) {
      json["artifactLocation"]["uriBaseId"] = "%SRCROOT%";  // 3.4.4: relative to wherever the sources are
    }
    if (site.line > 0) {
      json["region"]["startLine"] = site.line;
      if (site.column > 0) {
        json["region"]["startColumn"] = site.column;
      }
    }
  } else if (!site.module.empty() && site.offset <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    json["address"] = {{"relativeAddress", site.offset}, {"fullyQualifiedName", place(site)}};
  }
  return json;
}

// 3.28. Sites of text traces have no file: their label is a logical location.
Json location(const Site& site, const std::string& text) {
  Json json = Json::object();
  if (Json physical = physical_location(site); !physical.empty()) {
    json["physicalLocation"] = std::move(physical);
  }
  if (!site.function.empty()) {
    json["logicalLocations"] = Json::array({{{"fullyQualifiedName", printable(site.function)}, {"kind", "function"}}});
  } else if (!json.contains("physicalLocation")) {
    json["logicalLocations"] = Json::array({{{"fullyQualifiedName", place(site)}}});
  }
  if (!text.empty()) {
    json["message"] = message(text);
  }
  return json;
}

std::string role_of(const Finding& finding, const Access& access) {
  return act_in(finding, access) + with_locks(finding, access) + awaited(finding, access) + how_reached(access);
}

Json stack_frame(const Site& site, const std::string& text) {
  Json json = {{"location", location(site, text)}};
  if (!site.module.empty()) {
    json["module"] = printable(site.module);
  }
  return json;
}

Json stack(const Access& access) {
  Json frames = Json::array({stack_frame(access.site, deed(access))});
  for (const Site& call : access.stack) {
    frames.push_back(stack_frame(call, ""));
  }
  return {{"message", message("Stack of " + actor(access))}, {"frames", std::move(frames)}};
}

// 3.37: how the thread got there, outermost call first.
Json thread_flow(const Finding& finding, const Access& access) {
  Json locations = Json::array();
  const auto innermost = static_cast<std::ptrdiff_t>(access.frame <= access.stack.size() ? access.frame : 0);
  for (auto call = access.stack.rbegin(); call != access.stack.rend() - innermost; ++call) {
    locations.push_back({{"location", location(*call, "call")}, {"nestingLevel", locations.size()}});
  }
  locations.push_back({{"location", location(access.place(), role_of(finding, access))},
                       {"nestingLevel", locations.size()},
                       {"importance", "essential"}});
  return {{"id", printable(access.thread)}, {"locations", std::move(locations)}};
}

std::string sentence(const Finding& finding, const ReportStats& stats, const std::vector<const Access*>& accesses) {
  std::string text(rung_name(finding.rung));
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  text += " " + headline(finding) + ": ";
  const std::string_view link = finding.kind == FindingKind::kRace ? "; with " : "; and ";
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    text += std::string(i == 0 ? "" : link) + role_of(finding, *accesses[i]);
    text += i == 0 ? "" : " at " + place(accesses[i]->place());
  }
  return text + ". " + "Why " + std::string(rung_name(finding.rung)) + ": " + why_on_rung(finding, stats) +
         ". Found by " + listed(finding.found_by) + ".";
}

Json properties(const Finding& finding) {
  Json json = {{"id", finding.id},
               {"rung", rung_name(finding.rung)},
               {"foundBy", finding.found_by},
               {"dynamicPairs", finding.dynamic_pairs},
               {"distance", finding.distance},
               {"observed", finding.observed},
               {"exact", finding.exact}};
  if (finding.replay.has_value()) {
    const ReplaySummary& replay = *finding.replay;
    if (!replay.command.empty()) {
      json["replay"] = replay.command;
    }
    json["trials"] = replay.trials;
    json["hits"] = replay.hits;
    if (!replay.outcome.empty()) {
      json["outcome"] = replay.outcome;
    }
  }
  return json;
}

// 3.27.23 and 3.27.24: when one result says how it stands to a baseline, all must.
void put_baseline_state(Json& json, const Finding& finding) {
  json["baselineState"] = finding.known ? "unchanged" : "new";
  json["suppressions"] = Json::array();
  if (finding.known) {
    json["suppressions"].push_back(
        {{"kind", "external"}, {"status", "accepted"}, {"justification", "Known from the baseline."}});
  }
}

// The reordering as a code flow: one thread flow per thread, the steps numbered across threads, and then what is next.
Json witness_flow(const Finding& finding) {
  std::vector<std::pair<std::string, Json>> by_thread;
  const auto add = [&](const std::string& thread, const Site& site, const std::string& text, std::size_t order) {
    auto it = std::find_if(by_thread.begin(), by_thread.end(), [&](const auto& flow) { return flow.first == thread; });
    if (it == by_thread.end()) {
      it = by_thread.emplace(it, thread, Json::array());
    }
    it->second.push_back({{"location", location(site, text)}, {"executionOrder", order}});
  };
  const std::vector<WitnessStep>& steps = finding.witness->steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const WitnessStep& step = steps[i];
    add(step.thread, step.from, step.thread + " runs from here to " + place(step.to), i + 1);
  }
  for (const Access& access : finding.accesses) {
    add(access.thread, access.place(), role_of(finding, access) + " is next", steps.size() + 1);
  }
  Json flows = Json::array();
  for (auto& [thread, locations] : by_thread) {
    flows.push_back({{"id", thread}, {"locations", std::move(locations)}});
  }
  return {{"message", message("Witness: the steps in this order lead there.")}, {"threadFlows", std::move(flows)}};
}

// 3.27.22: the other accesses, and then where what they are about comes from.
Json related_locations(const Finding& finding, const std::vector<const Access*>& accesses) {
  Json list = Json::array();
  const auto add = [&list](const Site& site, const std::string& text) {
    Json related = {{"id", list.size() + 1}};
    related.update(location(site, text));
    list.push_back(std::move(related));
  };
  for (std::size_t i = 1; i < accesses.size(); ++i) {
    add(accesses[i]->place(), role_of(finding, *accesses[i]));
  }
  for (const ContextNote& note : context_notes(finding)) {
    add(note.origin != nullptr ? note.origin->place() : primary_access(finding).place(), note.text);
  }
  return list;
}

Json result(const Finding& finding, const ReportStats& stats, bool with_baseline) {
  const std::vector<const Access*> accesses = accesses_primary_first(finding);
  Json json = {{"ruleId", rule_id(finding.kind)},
               {"ruleIndex", raw(finding.kind)},
               {"level", level(finding.rung)},
               {"message", message(sentence(finding, stats, accesses))}};
  json["locations"] =
      Json::array({location(primary_access(finding).place(), role_of(finding, primary_access(finding)))});
  json["relatedLocations"] = related_locations(finding, accesses);
  json["stacks"] = Json::array();
  Json flows = Json::array();
  for (const Access* access : accesses) {
    json["stacks"].push_back(stack(*access));
    flows.push_back(thread_flow(finding, *access));
  }
  if (!flows.empty()) {
    json["codeFlows"] = Json::array({{{"threadFlows", std::move(flows)}}});
  }
  if (finding.witness.has_value() && finding.witness->checked && !finding.witness->steps.empty()) {
    json["codeFlows"].push_back(witness_flow(finding));
  }
  json["partialFingerprints"] = {{"soothFinding/v2", finding.id}};
  if (with_baseline) {
    put_baseline_state(json, finding);
  }
  json["properties"] = properties(finding);
  return json;
}

Json invocation(const Report& report) {
  Json json = {{"executionSuccessful", true}};
  if (!report.notes.empty()) {
    json["toolExecutionNotifications"] = Json::array();
    for (const std::string& note : report.notes) {
      json["toolExecutionNotifications"].push_back({{"level", "note"}, {"message", message(note)}});
    }
  }
  return json;
}

Json run(const Report& report, const SinkOptions& options) {
  Json driver = {{"name", "sooth"}};
  if (!options.version.empty()) {
    driver["version"] = options.version;
  }
  driver["rules"] = rules();
  bool with_baseline = false;
  for (const Finding& finding : report.findings) {
    with_baseline = with_baseline || finding.known;
  }
  Json json = {{"tool", {{"driver", std::move(driver)}}}, {"invocations", Json::array({invocation(report)})}};
  json["results"] = Json::array();
  for (const Finding& finding : report.findings) {
    json["results"].push_back(result(finding, report.stats, with_baseline));
  }
  json["properties"] = {{"trace", report.trace},         {"program", report.program},
                        {"exact", report.exact},         {"incomplete", report.incomplete},
                        {"events", report.stats.events}, {"suppressed", report.suppressed}};
  return json;
}

}  // namespace

Status write_sarif(const Report& report, const SinkOptions& options, std::ostream& out) {
  const Json log = {{"$schema", kSchemaUri}, {"version", "2.1.0"}, {"runs", Json::array({run(report, options)})}};
  print_json(log, out);
  return {};
}

}  // namespace sooth
