// What a report tells of the run and of its analysis: the statistics and the overview.
#include <set>

#include "report/json_read.h"

namespace sooth {

// A row of AnalysisStats::extra.
static void read_json(const JsonNode& node, std::pair<std::string, std::string>& row) {
  if (const auto parts = node.tuple(2, "[label, figure]"); !parts.empty()) {
    parts[0].get(row.first);
    parts[1].get(row.second);
  }
}

static void read_json(const JsonNode& node, AnalysisStats& analysis) {
  node.get("guarantee", analysis.guarantee);
  node.get("races", analysis.races);
  node.get("dynamic_pairs", analysis.dynamic_pairs);
  node.get("seconds", analysis.seconds);
  node.get("seconds_unfiltered", analysis.seconds_unfiltered);
  node.get("extra", analysis.extra);
}

static void read_json(const JsonNode& node, FilterStats& filter) {
  node.get("name", filter.name);
  node.get("accesses", filter.accesses);
  node.get("hidden_intra", filter.hidden_intra);
  node.get("hidden_inter", filter.hidden_inter);
  node.get("locations", filter.locations);
  node.get("memory_bytes", filter.memory);
  node.get("seconds", filter.seconds);
}

// A row of ReportStats::stages.
static void read_json(const JsonNode& node, std::pair<std::string, double>& stage) {
  node.get("stage", stage.first);
  node.get("seconds", stage.second);
}

void read_json(const JsonNode& node, ReportStats& stats) {
  node.get("events", stats.events);
  node.get("threads", stats.threads);
  node.get("locks", stats.locks);
  node.get("variables", stats.variables);
  node.get("sites", stats.sites);
  node.get("seconds", stats.seconds);
  node.get("witness_seconds", stats.witness_seconds);
  node.get("stages", stats.stages);
  node.get("filter", stats.filter);
  const JsonNode analyses = node["analyses"];
  std::vector<std::string> names;
  node.get("analysis_order", names);
  const std::vector<std::string> keys = analyses.keys();  // those that the order does not name come last
  names.insert(names.end(), keys.begin(), keys.end());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (const JsonNode analysis = analyses[name]; analysis.present() && seen.insert(name).second) {
      analysis.get(stats.analyses.emplace_back());
      stats.analyses.back().name = name;
    }
  }
}

void read_json(const JsonNode& node, RecordedUnder& how) {
  node.get("schedule", how.schedule);
  node.get("seed", how.seed);
}

static void read_json(const JsonNode& node, SearchSummary::Recording& recording) {
  node.get(recording.how);
  node.get("pairs", recording.pairs);
  node.get("new_pairs", recording.new_pairs);
  node.get("end", recording.end);
}

// A row of SearchSummary::ends.
static void read_json(const JsonNode& node, std::pair<std::string, std::uint64_t>& end) {
  node.get("end", end.first);
  node.get("runs", end.second);
}

void read_json(const JsonNode& node, SearchSummary& search) {
  node.get("recordings", search.recordings);
  node.get("candidates", search.candidates);
  node.get("tried", search.tried);
  node.get("runs", search.runs);
  node.get("sightings", search.sightings);
  node.get("seen_once", search.seen_once);
  node.get("jobs", search.jobs);
  node.get("jobs_why", search.jobs_why);
  node.get("explored", search.explored);
  node.get("ended", search.ended);
  node.get("ends", search.ends);
}

// A row of RunOverview::kinds.
static void read_json(const JsonNode& node, std::pair<Op, std::uint64_t>& kind) {
  node.required("op").get(kind.first);
  node.get("events", kind.second);
}

static void read_json(const JsonNode& node, ThreadActivity& thread) {
  node.get("thread", thread.thread);
  node.get("events", thread.events);
  node.get("first", thread.first);
  node.get("last", thread.last);
  node.get("activity", thread.activity);
}

static void read_json(const JsonNode& node, LockUse& lock) {
  node.get("lock", lock.lock);
  node.get("acquires", lock.acquires);
  node.get("handovers", lock.handovers);
}

void read_json(const JsonNode& node, RunOverview& overview) {
  node.get("slice", overview.slice);
  node.get("kinds", overview.kinds);
  node.get("threads", overview.threads);
  node.get("more_threads", overview.more_threads);
  node.get("locks", overview.locks);
  node.get("more_locks", overview.more_locks);
}

}  // namespace sooth
