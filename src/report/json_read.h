// How the parts of a report are read from JSON: what JsonNode::get calls for them. The parts of these parts are private
// to the files that read them, as `static` functions, because get() does not look into unnamed namespaces.
// docs/report.schema.json is the format, report/json_writer.cc the other direction.
#pragma once

#include "race/finding.h"
#include "report/json_node.h"

namespace sooth {

// json_read_finding.cc
void read_json(const JsonNode& node, Op& op);
void read_json(const JsonNode& node, Site& site);
void read_json(const JsonNode& node, Finding& finding);
// json_read_witness.cc
void read_json(const JsonNode& node, WitnessSummary& witness);
// Gives witnesses the stretches that they share; `root` is the document.
void read_shared_runs(const JsonNode& root, std::vector<Finding>& findings);
// json_read_run.cc
void read_json(const JsonNode& node, ReportStats& stats);
void read_json(const JsonNode& node, RunOverview& overview);
void read_json(const JsonNode& node, RecordedUnder& how);
void read_json(const JsonNode& node, SearchSummary& search);

}  // namespace sooth
