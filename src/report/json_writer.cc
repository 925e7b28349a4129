#include "report/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/describe.h"
#include "report/json.h"
#include "report/json_print.h"
#include "report/shared_runs.h"
#include "report/sink.h"

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;

// Numbers that use all 64 bits (addresses) are hexadecimal strings: many readers keep numbers as doubles. Texts that
// are empty and numbers that are unknown are left out, except where readers would have to expect both.

void put_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) {
    json[key] = text;
  }
}

void put_seconds(Json& json, double seconds, const SinkOptions& options) {
  if (!options.deterministic && std::isfinite(seconds)) {
    json["seconds"] = seconds;
  }
}

Json to_json(const Site& site) {
  Json json = {{"label", site.label}};
  put_text(json, "file", site.file);
  if (site.line > 0) {
    json["line"] = site.line;
  }
  if (site.column > 0) {
    json["column"] = site.column;
  }
  put_text(json, "function", site.function);
  put_text(json, "module", site.module);
  if (!site.module.empty() || site.offset > 0) {
    json["offset"] = hexadecimal(site.offset);
  }
  return json;
}

Json to_json(const std::vector<Site>& stack) {
  Json json = Json::array();
  for (const Site& call : stack) {
    json.push_back(to_json(call));
  }
  return json;
}

Json to_json(const Access& access) {
  Json json = {{"op", op_name(access.op)}};
  if (access.order != MemoryOrder::kNotAtomic) {
    json["order"] = memory_order_name(access.order);
  }
  if (access.shared) {
    json["shared"] = true;
  }
  json["size"] = access.size;
  json["address"] = hexadecimal(access.address);
  put_text(json, "variable", access.variable);
  json["thread"] = access.thread;
  if (access.executed) {
    json["event"] = raw(access.event);
  } else {
    json["executed"] = false;
    json["reached_when"] = access.when;
  }
  json["site"] = to_json(access.site);
  json["stack"] = to_json(access.stack);
  if (access.frame > 0) {
    json["frame"] = access.frame;
  }
  put_text(json, "code", access.code);
  json["locks"] = access.locks;
  return json;
}

Json to_json(const SectionStart& section) {
  return {{"thread", section.thread}, {"acquire", raw(section.acquire)}, {"site", to_json(section.site)}};
}

Json to_json(const CodePlace& place) { return Json::array({place.module, place.function, place.instruction}); }

Json to_json(const UnexecutedStep& step) {
  Json json = {{"thread", raw(step.thread)},           {"code", to_json(step.code)}, {"op", op_name(step.op)},
               {"address", hexadecimal(step.address)}, {"size", step.size},          {"after", step.after}};
  if (step.value.has_value()) {
    json["value"] = hexadecimal(*step.value);
  }
  json["site"] = to_json(step.site);
  return json;
}

Json to_json(const ValueSummary& values) {
  Json json = {{"reads", Json::array()}, {"detour", Json::array()}, {"next", Json::array()}};
  for (const ValueSummary::Read& read : values.reads) {
    Json& entry = json["reads"].emplace_back(
        Json{{"event", raw(read.event)}, {"value", hexadecimal(read.value)}, {"thread", read.thread}});
    put_text(entry, "variable", read.variable);
    entry["site"] = to_json(read.site);
  }
  for (const UnexecutedStep& step : values.detour) {
    json["detour"].push_back(to_json(step));
  }
  for (const ValueSummary::Next& next : values.next) {
    Json& entry = json["next"].emplace_back(Json{{"thread", raw(next.thread)}});
    if (next.event.has_value()) {
      entry["event"] = raw(*next.event);
    }
    if (next.unexecuted.has_value()) {
      entry["unexecuted"] = to_json(*next.unexecuted);
    }
    if (next.branch.has_value()) {
      entry["branch"] = to_json(*next.branch);
    }
  }
  return json;
}

Json to_json(const WitnessDrawing& drawing) {
  Json json = {{"length", drawing.length}};
  for (const WitnessDrawing::Thread& thread : drawing.threads) {
    json["threads"].push_back({{"id", raw(thread.id)}, {"name", thread.name}});
  }
  for (const WitnessDrawing::Deed& deed : drawing.deeds) {
    json["deeds"].push_back({{"op", op_name(deed.op)}, {"shared", deed.shared}});
  }
  json["objects"] = drawing.objects;
  json["sites"] = to_json(drawing.sites);
  json["rows"] = Json::array();
  for (const WitnessDrawing::Row& row : drawing.rows) {
    json["rows"].push_back(Json::array({row.position, raw(row.event), row.thread, row.deed, row.object, row.site}));
  }
  return json;
}

Json to_json(const WitnessSummary::Run& run) { return Json::array({raw(run.thread), raw(run.first), raw(run.last)}); }

void put_runs(Json& json, const std::vector<WitnessSummary::Run>& runs, SharedRuns* shared) {
  if (shared != nullptr && runs.size() > kMaxOwnRuns) {
    if (const auto slices = shared->add(runs)) {
      json["order_slices"] = Json::array();
      for (const SharedRuns::Slice& slice : *slices) {
        json["order_slices"].push_back(Json::array({slice.first, slice.count}));
      }
      return;
    }
  }
  json["order_runs"] = Json::array();
  for (const WitnessSummary::Run& run : runs) {
    json["order_runs"].push_back(to_json(run));
  }
}

Json to_json(const WitnessSummary& witness, SharedRuns* shared) {
  Json json = {{"status", witness.checked ? "checked" : "none"}};
  put_text(json, "why", witness.why);
  if (witness.refuted) {
    json["refuted"] = true;
  }
  // An empty order beside runs means "too long to list"; beside no runs it means that nothing has to run first.
  if (!witness.order.empty() || (witness.checked && witness.runs.empty())) {
    json["order"] = Json::array();
    for (const EventId event : witness.order) {
      json["order"].push_back(raw(event));
    }
  }
  if (!witness.runs.empty() || witness.checked) {
    put_runs(json, witness.runs, shared);
  }
  for (const WitnessStep& step : witness.steps) {
    json["steps"].push_back({{"thread", step.thread},
                             {"first", raw(step.first)},
                             {"last", raw(step.last)},
                             {"from", to_json(step.from)},
                             {"to", to_json(step.to)}});
  }
  for (const SectionSwap& swap : witness.swaps) {
    json["swaps"].push_back(
        {{"lock", swap.lock}, {"now_first", to_json(swap.now_first)}, {"now_second", to_json(swap.now_second)}});
  }
  if (witness.values.has_value()) {
    json["values"] = to_json(*witness.values);
  }
  if (witness.drawing.has_value()) {
    json["drawing"] = to_json(*witness.drawing);
  }
  return json;
}

Json to_json(const Origin& origin) {
  Json json = {{"thread", origin.thread},
               {"event", raw(origin.event)},
               {"site", to_json(origin.site)},
               {"stack", to_json(origin.stack)}};
  if (origin.frame > 0) {
    json["frame"] = origin.frame;
  }
  return json;
}

Json to_json(const MemoryContext& memory) {
  Json json = {{"kind", memory_kind_name(memory.kind)}, {"address", hexadecimal(memory.address)}};
  if (memory.size > 0) {
    json["size"] = memory.size;
  }
  json["offset"] = memory.offset;
  put_text(json, "name", memory.name);
  put_text(json, "thread", memory.thread);
  put_text(json, "function", memory.function);
  put_text(json, "type", memory.type);
  put_text(json, "member", memory.member);
  if (memory.allocated.has_value()) {
    json["allocated"] = to_json(*memory.allocated);
  }
  return json;
}

Json to_json(const FindingContext& context) {
  Json json = Json::object();
  if (context.memory.has_value()) {
    json["memory"] = to_json(*context.memory);
  }
  json["threads"] = Json::array();
  for (const ThreadContext& thread : context.threads) {
    json["threads"].push_back({{"thread", thread.thread}, {"created", to_json(thread.created)}});
  }
  json["locks"] = Json::array();
  for (const LockContext& lock : context.locks) {
    json["locks"].push_back({{"lock", lock.lock},
                             {"address", hexadecimal(lock.address)},
                             {"first_acquired", to_json(lock.first_acquired)}});
  }
  if (context.habit.has_value()) {
    json["habit"] = {
        {"lock", context.habit->lock}, {"holding", context.habit->holding}, {"accesses", context.habit->accesses}};
  }
  return json;
}

Json to_json(const RecordedUnder& how) { return {{"schedule", how.schedule}, {"seed", how.seed}}; }

Json to_json(const ReplaySummary& replay) {
  Json json = Json::object();
  put_text(json, "command", replay.command);
  json["seed"] = replay.seed;
  if (std::isfinite(replay.probability)) {
    json["probability"] = replay.probability;
  }
  put_text(json, "strategy", replay.strategy);
  json["trials"] = replay.trials;
  json["hits"] = replay.hits;
  if (replay.witness_followed) {
    json["witness_followed"] = true;
  }
  if (replay.witness_repeats > 0) {
    json["witness_repeats"] = replay.witness_repeats;
  }
  put_text(json, "diverged", replay.diverged);
  put_text(json, "outcome", replay.outcome);
  json["failures"] = replay.failures;
  if (replay.order_matters) {
    json["order_matters"] = true;
  }
  json["baseline_runs"] = replay.baseline_runs;
  json["baseline_failures"] = replay.baseline_failures;
  if (replay.missed_failures > 0) {
    json["missed_failures"] = replay.missed_failures;
  }
  if (replay.by_delay) {
    json["by_delay"] = true;
  }
  if (std::isfinite(replay.chance) && replay.chance != 1) {
    json["chance"] = replay.chance;
  }
  put_text(json, "schedule", replay.schedule);
  if (!replay.preemptions.empty()) {
    json["preemptions"] = replay.preemptions;
  }
  if (!replay.older_values.empty()) {
    json["older_values"] = replay.older_values;
  }
  return json;
}

Json to_json(const FailureSummary& failure) {
  Json json = Json::object();
  put_text(json, "outcome", failure.outcome);
  json["signal"] = failure.signal;
  json["status"] = failure.status;
  put_text(json, "message", failure.message);
  json["recorded"] = failure.recorded;
  json["by_delay"] = failure.by_delay;
  if (!failure.after.empty()) {
    json["after"] = failure.after;
  }
  return json;
}

Json to_json(const HandOver& hand_over) {
  Json json = {{"verdict", hand_over_verdict_name(hand_over.verdict)}, {"pairs", hand_over.pairs}};
  if (hand_over.verdict == HandOverVerdict::kRecognised) {
    json["by"] = hand_over.by_pointer ? "pointer" : "value";
    json["write"] = to_json(hand_over.write);
    json["read"] = to_json(hand_over.read);
    put_text(json, "variable", hand_over.variable);
    put_text(json, "lock", hand_over.lock);
  }
  return json;
}

Json to_json(const Finding& finding, SharedRuns* shared) {
  Json json = {{"id", finding.id},
               {"kind", finding_kind_name(finding.kind)},
               {"rung", rung_name(finding.rung)},
               {"found_by", finding.found_by},
               {"dynamic_pairs", finding.dynamic_pairs},
               {"distance", finding.distance},
               {"observed", finding.observed},
               {"exact", finding.exact},
               {"known", finding.known}};
  if (!finding.conflicts.empty()) {
    json["conflicts"] = finding.conflicts;
  }
  for (const OtherPair& pair : finding.others) {
    json["others"].push_back(
        {{"rung", rung_name(pair.rung)}, {"found_by", pair.found_by}, {"sites", to_json(pair.sites)}});
  }
  if (finding.may_be_atomic) {
    json["may_be_atomic"] = true;
  }
  if (!finding.uninstrumented.empty()) {
    json["uninstrumented"] = finding.uninstrumented;
  }
  if (finding.declared) {
    json["declared"] = true;
  }
  if (finding.on_vptr) {
    json["vptr"] = true;
  }
  if (!finding.follows.empty()) {
    json["follows"] = finding.follows;
  }
  if (finding.misuse.has_value()) {
    json["misuse"] = misuse_kind_name(*finding.misuse);
  }
  if (finding.failure.has_value()) {
    json["failure"] = to_json(*finding.failure);
  }
  if (finding.recorded_under.has_value()) {
    json["recording"] = to_json(*finding.recorded_under);
  }
  if (finding.witness.has_value()) {
    json["witness"] = to_json(*finding.witness, shared);
  }
  if (finding.hand_over.has_value()) {
    json["hand_over"] = to_json(*finding.hand_over);
  }
  json["accesses"] = Json::array();
  for (const Access& access : finding.accesses) {
    json["accesses"].push_back(to_json(access));
  }
  if (!finding.context.empty()) {
    json["context"] = to_json(finding.context);
  }
  if (finding.replay.has_value()) {
    json["replay"] = to_json(*finding.replay);
  }
  if (!finding.reports.empty()) {
    json["reports"] = finding.reports;
  }
  return json;
}

Json to_json(const AnalysisStats& analysis, const SinkOptions& options) {
  Json json = Json::object();
  put_text(json, "guarantee", analysis.guarantee);
  json["races"] = analysis.races;
  json["dynamic_pairs"] = analysis.dynamic_pairs;
  put_seconds(json, analysis.seconds, options);
  if (!options.deterministic && std::isfinite(analysis.seconds_unfiltered.value_or(NAN))) {
    json["seconds_unfiltered"] = *analysis.seconds_unfiltered;
  }
  if (!analysis.extra.empty()) {
    json["extra"] = analysis.extra;  // an array of [label, figure]: labels may repeat
  }
  return json;
}

Json to_json(const FilterStats& filter, const SinkOptions& options) {
  Json json = {{"name", filter.name},
               {"accesses", filter.accesses},
               {"hidden_intra", filter.hidden_intra},
               {"hidden_inter", filter.hidden_inter},
               {"locations", filter.locations},
               {"memory_bytes", filter.memory}};
  put_seconds(json, filter.seconds, options);
  return json;
}

Json to_json(const ReportStats& stats, const SinkOptions& options) {
  Json json = {{"events", stats.events}, {"threads", stats.threads}};
  // What nobody counted is not 0.
  if (stats.variables > 0 || stats.locks > 0 || stats.events == 0) {
    json["locks"] = stats.locks;
    json["variables"] = stats.variables;
  }
  json["sites"] = stats.sites;
  put_seconds(json, stats.seconds, options);
  if (!options.deterministic && std::isfinite(stats.witness_seconds)) {
    json["witness_seconds"] = stats.witness_seconds;
  }
  for (const auto& [stage, seconds] : stats.stages) {
    if (!options.deterministic && std::isfinite(seconds)) {
      json["stages"].push_back({{"stage", stage}, {"seconds", seconds}});
    }
  }
  if (stats.filter.has_value()) {
    json["filter"] = to_json(*stats.filter, options);
  }
  // Members of an object have no order, so the order in which reports name the analyses stands beside them.
  json["analysis_order"] = Json::array();
  json["analyses"] = Json::object();
  for (const AnalysisStats& analysis : stats.analyses) {
    json["analysis_order"].push_back(analysis.name);
    json["analyses"][analysis.name] = to_json(analysis, options);
  }
  return json;
}

Json to_json(const RunOverview& overview) {
  Json json = {{"slice", overview.slice}, {"kinds", Json::array()}, {"threads", Json::array()}};
  for (const auto& [op, events] : overview.kinds) {
    json["kinds"].push_back({{"op", op_name(op)}, {"events", events}});
  }
  for (const ThreadActivity& thread : overview.threads) {
    json["threads"].push_back({{"thread", thread.thread},
                               {"events", thread.events},
                               {"first", raw(thread.first)},
                               {"last", raw(thread.last)},
                               {"activity", thread.activity}});
  }
  json["more_threads"] = overview.more_threads;
  json["locks"] = Json::array();
  for (const LockUse& lock : overview.locks) {
    json["locks"].push_back({{"lock", lock.lock}, {"acquires", lock.acquires}, {"handovers", lock.handovers}});
  }
  json["more_locks"] = overview.more_locks;
  return json;
}

Json to_json(const SearchSummary& search) {
  Json json = {{"recordings", Json::array()}, {"candidates", search.candidates}, {"tried", search.tried},
               {"runs", search.runs},         {"sightings", search.sightings},   {"seen_once", search.seen_once},
               {"jobs", search.jobs}};
  for (const SearchSummary::Recording& recording : search.recordings) {
    Json row = to_json(recording.how);
    row["pairs"] = recording.pairs;
    row["new_pairs"] = recording.new_pairs;
    put_text(row, "end", recording.end);
    json["recordings"].push_back(std::move(row));
  }
  put_text(json, "jobs_why", search.jobs_why);
  put_text(json, "explored", search.explored);
  put_text(json, "ended", search.ended);
  json["ends"] = Json::array();
  for (const auto& [end, runs] : search.ends) {
    json["ends"].push_back({{"end", end}, {"runs", runs}});
  }
  return json;
}

Json to_json(const SuppressionUse& use) {
  return {{"file", use.file}, {"line", use.line}, {"text", use.text}, {"hits", use.hits}};
}

Json to_json(const Report& report, const SinkOptions& options, bool with_findings) {
  Json json = {{"schema", kReportSchema},
               {"trace", report.trace},
               {"program", report.program},
               {"exact", report.exact},
               {"incomplete", report.incomplete}};
  if (!options.version.empty()) {
    json["tool"] = {{"name", "sooth"}, {"version", options.version}};
  }
  if (report.id_version > 0) {
    json["ids"] = report.id_version;
  }
  put_text(json, "engine", report.engine);
  if (!report.stateless.empty()) {
    json["stateless"] = report.stateless;
  }
  if (!options.deterministic) {
    put_text(json, "date", report.date);
  }
  if (report.outcome.has_value()) {
    json["outcome"] = {{"status", report.outcome->status}, {"signal", report.outcome->signal}};
  }
  if (report.search.has_value()) {
    json["seeds"] = Json::array();
    for (const SearchSummary::Recording& recording : report.search->recordings) {
      json["seeds"].push_back(recording.how.seed);
    }
  }
  if (with_findings) {
    SharedRuns shared;
    json["findings"] = Json::array();
    for (const Finding& finding : report.findings) {
      json["findings"].push_back(to_json(finding, &shared));
    }
    for (const WitnessSummary::Run& run : shared.table()) {
      json["shared_runs"].push_back(to_json(run));
    }
  }
  json["suppressed"] = report.suppressed;
  json["suppressions"] = Json::array();
  for (const SuppressionUse& use : report.suppressions) {
    json["suppressions"].push_back(to_json(use));
  }
  json["notes"] = report.notes;
  for (const Gap& gap : report.not_covered) {
    json["not_covered"].push_back({{"kind", gap_kind_name(gap.kind)}, {"text", gap.text}});
  }
  if (report.shard.has_value()) {
    json["shard"] = {{"index", report.shard->index},
                     {"count", report.shard->count},
                     {"campaign", report.shard->campaign},
                     {"tried", report.shard->tried}};
  }
  json["stats"] = to_json(report.stats, options);
  if (report.search.has_value()) {
    json["search"] = to_json(*report.search);
  }
  if (report.overview.has_value()) {
    json["overview"] = to_json(*report.overview);
  }
  if (!report.sources.empty()) {
    json["sources"] = Json::array();
    for (const SourceFile& source : report.sources) {
      json["sources"].push_back({{"file", source.file}, {"digest", hexadecimal(source.digest)}});
    }
  }
  return json;
}

}  // namespace

Json finding_json(const Finding& finding) { return to_json(finding, nullptr); }
Json site_json(const Site& site) { return to_json(site); }
Json frame_json(const Report& report, const SinkOptions& options) { return to_json(report, options, false); }

Status write_json(const Report& report, const SinkOptions& options, std::ostream& out) {
  // `replace`: names may hold any bytes, the output is always UTF-8.
  print_json(to_json(report, options, true), out);
  return {};
}

}  // namespace sooth
