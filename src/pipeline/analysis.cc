#include "pipeline/analysis.h"

#include <chrono>
#include <set>
#include <sstream>

#include "pipeline/context.h"
#include "pipeline/findings.h"
#include "race/site_key.h"
#include "trace/census.h"
#include "trace/validator.h"

namespace sooth {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A detector at work, and what it costs.
struct RunningDetector {
  const DetectorInfo* info;
  std::unique_ptr<Detector> detector;
  double seconds = 0;
};

// Races as reports count them: sites that are one place of the program are one site.
std::uint64_t distinct_races(const PairTable& races, const Tables& tables) {
  std::set<std::pair<std::string, std::string>> places;
  for (const SitePair& pair : races.pairs()) {
    places.insert(std::minmax({site_key(tables.site(pair.low_site)), site_key(tables.site(pair.high_site))}));
  }
  return places.size();
}

AnalysisStats stats_of(const RunningDetector& running, const Tables& tables) {
  AnalysisStats stats;
  stats.name = running.info->name;
  stats.guarantee = guarantee_name(running.detector->guarantee());
  stats.races = distinct_races(running.detector->races(), tables);
  for (const SitePair& pair : running.detector->races().pairs()) {
    stats.dynamic_pairs += pair.second_accesses;
  }
  stats.seconds = running.seconds;
  stats.extra = running.detector->stats();
  return stats;
}

// Feeds every batch to all; returns the number of events.
Result<std::uint64_t> run(TraceReader& reader, const AnalysisOptions& options, std::vector<RunningDetector>& running,
                          TraceCensus& census, TraceCapture& capture, ForkLog& forks) {
  TraceValidator validator;
  std::uint64_t events = 0;
  for (;;) {
    Result<Batch> batch = reader.next();
    if (!batch.ok()) {
      return std::move(batch).status();
    }
    if (batch->empty()) {
      break;
    }
    SOOTH_RETURN_IF_ERROR(validator.consume(*batch, reader.tables()));
    if (options.census) {
      census.consume(*batch);
    }
    if (!running.empty()) {
      capture.consume(*batch);
      if (!options.reopen) {
        forks.consume(*batch, reader.tables());
      }
    }
    for (RunningDetector& each : running) {
      const Clock::time_point start = Clock::now();
      each.detector->consume(*batch);
      each.seconds += seconds_since(start);
    }
    events += batch->events.size();
    if (options.progress) {
      options.progress(events);
    }
  }
  for (RunningDetector& each : running) {
    const Clock::time_point start = Clock::now();
    each.detector->finish();
    each.seconds += seconds_since(start);
  }
  return events;
}

// Where the things in findings come from: from the part of the trace that was kept, if that is enough.
void explain(const AnalysisOptions& options, const TraceCapture& capture, const ForkLog& forks, const Tables& tables,
             Report& report) {
  if (events_named(report.findings) <= capture.size() || !options.reopen) {
    add_context(report.findings, capture.batch(), tables);
    add_thread_context(report.findings, forks, tables);
    return;
  }
  Result<std::unique_ptr<TraceReader>> again = options.reopen();
  const Status status = again.ok() ? add_context(report.findings, **again) : std::move(again).status();
  if (!status.ok()) {
    report.notes.push_back("Where memory, threads and locks come from is not told: the trace could not be read again: " +
                           status.message());
  }
}

void add_notes(const ProofCount& proven, Report& report) {
  const auto count = [](std::uint64_t n, const char* one, const char* many) { return std::to_string(n) + (n == 1 ? one : many); };
  if (proven.refuted > 0) {
    report.notes.push_back(count(proven.refuted, " pair was", " pairs were") +
                           " refuted: no reordering in which every read sees what it saw makes the accesses meet.");
  }
  if (proven.rejected > 0) {
    report.notes.push_back(count(proven.rejected, " witness was", " witnesses were") +
                           " rejected by the checker. That is a fault of sooth: please report it.");
  }
}

std::string known_names() {
  std::string names;
  for (const DetectorInfo& info : detectors()) {
    names += std::string(info.name) + ", ";
  }
  return names + "none";
}

}  // namespace

Result<std::vector<const DetectorInfo*>> parse_detectors(const std::string& names) {
  std::vector<bool> chosen(detectors().size());
  std::istringstream words(names);
  std::string word;
  bool any = false;
  while (std::getline(words, word, ',')) {
    any = true;
    const DetectorInfo* info = find_detector(word);
    if (info != nullptr) {
      chosen[static_cast<std::size_t>(info - detectors().data())] = true;
      if (const DetectorInfo* companion = find_detector(info->companion)) {
        chosen[static_cast<std::size_t>(companion - detectors().data())] = true;
      }
    } else if (word != "none") {
      return Status::usage("there is no analysis `" + word + "`; there are: " + known_names());
    }
  }
  if (!any) {
    return Status::usage("--with needs the name of an analysis; there are: " + known_names());
  }
  std::vector<const DetectorInfo*> rows;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) {
      rows.push_back(&detectors()[i]);
    }
  }
  return rows;
}

Result<Report> analyze_trace(TraceReader& reader, const AnalysisOptions& options) {
  const Clock::time_point start = Clock::now();
  std::vector<RunningDetector> running;
  for (const DetectorInfo* info : options.detectors) {
    running.push_back({info, info->make(options.detector)});
  }
  TraceCensus census;
  TraceCapture capture(options.proof.max_events);
  ForkLog forks;
  Result<std::uint64_t> events = run(reader, options, running, census, capture, forks);
  if (!events.ok()) {
    return std::move(events).status();
  }
  Report report;
  report.program = reader.info().program;
  report.exact = reader.info().exact;
  report.incomplete = reader.info().incomplete;
  if (report.incomplete) {
    report.notes.push_back("The trace is incomplete: its writer did not finish. Analysed are the " +
                           std::to_string(*events) + " events that it had written.");
  }
  std::vector<FinishedDetector> finished;
  for (const RunningDetector& each : running) {
    finished.push_back({each.info, each.detector.get()});
    report.stats.analyses.push_back(stats_of(each, reader.tables()));
    for (std::string& note : each.detector->notes()) {
      report.notes.push_back(std::move(note));
    }
  }
  const Clock::time_point proof_start = Clock::now();
  std::vector<Claim> claims = make_claims(finished, reader.tables(), report.exact);
  const ProofCount proven = prove(claims, capture, reader.tables(), options.proof);
  add_notes(proven, report);
  for (Claim& claim : claims) {
    report.findings.push_back(std::move(claim.finding));
  }
  for (Finding& finding : misuse_findings(finished, reader.tables(), report.exact)) {
    report.findings.push_back(std::move(finding));
  }
  report.stats.witness_seconds = seconds_since(proof_start);
  explain(options, capture, forks, reader.tables(), report);
  report.stats.events = *events;
  report.stats.threads = reader.tables().thread_count();
  report.stats.locks = census.locks();
  report.stats.variables = census.variables();
  report.stats.sites = reader.tables().site_count();
  report.stats.seconds = seconds_since(start);
  return report;
}

}  // namespace sooth
