// A trace, from wherever it comes, and what the analyses find in it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "pipeline/analysis.h"
#include "race/finding.h"
#include "report/identity.h"
#include "symbol/stateless_libraries.h"
#include "trace/reader.h"

namespace sooth {

struct TraceSource {
  std::string name;                     // what errors and the report call it
  std::unique_ptr<TraceReader> reader;  // with columns_for() the analyses
  std::function<Result<std::unique_ptr<TraceReader>>()>
      reopen;                                         // as AnalysisOptions has it; empty: it comes by only once
  std::function<Result<DeepProgram>()> deep_program;  // likewise
  std::function<Result<std::unique_ptr<TraceReader>>()> read_again = {};
};

// Opens what lies on the disk.
Result<TraceSource> open_source(const std::string& path, ColumnSet columns);

// Whether the analyses may look at what the recorder has left in the trace. Says so before anything is read.
Status check_source(const TraceSource& source, const std::vector<const DetectorInfo*>& detectors);

// What the user says of the program, and no trace tells.
struct SourceKnowledge {
  IdentityOptions identity;      // what is whose code
  StatelessLibraries stateless;  // they order nothing by what they remember
};

// analyze_trace() with errors and a report that name the source, and findings that have ids.
Result<Report> analyze_source(TraceSource& source, AnalysisOptions options, const SourceKnowledge& known = {});

// The analyses that `sooth run` asks, by name: what the trace has decides. Where calls were not recorded, rdit takes
// the place of those that such calls would fool. Reads the trace up to the first such call.
Result<std::string> analyses_for(const std::string& path);

}  // namespace sooth
