#include "pipeline/analysis.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "base/suggest.h"
#include "base/text.h"
#include "pipeline/context.h"
#include "pipeline/findings.h"
#include "pipeline/hand_over_stage.h"
#include "pipeline/mcm_stage.h"
#include "pipeline/overview.h"
#include "pipeline/passes.h"
#include "pipeline/recipe_stage.h"
#include "pipeline/thread_ends.h"
#include "predict/barrier_order.h"
#include "race/site_key.h"
#include "trace/check/validator.h"
#include "trace/tools/census.h"

namespace sooth {
namespace {

using Clock = std::chrono::steady_clock;

// What sooth/annotate.h calls at the beginning of a block, which recordings have as its function.
constexpr std::string_view kDeclaredBlock = "sooth_annotate_atomic_begin";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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

// What was not recorded may have ordered the threads: whoever claims that nothing did would raise false alarms.
Status refuse_calls(const Batch& batch, const std::vector<const DetectorInfo*>& detectors) {
  std::string fooled;
  for (const DetectorInfo* info : detectors) {
    fooled += info->with_calls ? "" : (fooled.empty() ? "" : ", ") + std::string(info->name);
  }
  if (batch.reaches.empty() || fooled.empty()) {
    return {};
  }
  return Status::usage("event " + std::to_string(raw(batch.reaches.front().call)) +
                       " begins a call that was not recorded, and what it does to memory would fool " + fooled +
                       "; rdit is the analysis for such traces (--with rdit)");
}

// Feeds every batch to all; returns the number of events.
Result<std::uint64_t> run(TraceReader& reader, const AnalysisOptions& options, DetectorPasses& passes,
                          TraceCensus& census, TraceCapture& capture, SharedMemory& shared, ForkLog& forks,
                          OverviewCollector& overview, ThreadEnds& ends) {
  TraceValidator validator;
  BatchOutline outline;
  std::uint64_t events = 0;
  const bool looks_again = static_cast<bool>(options.read_again) && options.proof.max_events > 0;
  for (;;) {
    Result<Batch> batch = reader.next();
    if (!batch.ok()) {
      return std::move(batch).status();
    }
    if (batch->empty()) {
      break;
    }
    if (!reader.info().exact) {
      batch->values = {};  // they say nothing when the order of events is not what happened
    }
    SOOTH_RETURN_IF_ERROR(validator.consume(*batch, reader.tables(), reader.explains_values()));
    SOOTH_RETURN_IF_ERROR(refuse_calls(*batch, options.detectors));
    if (options.census) {
      census.consume(*batch);
    }
    if (!options.detectors.empty()) {
      const bool was_whole = capture.whole();
      capture.consume(*batch);
      if (looks_again && !capture.whole()) {
        if (was_whole) {
          shared.consume(capture.batch().events);
        }
        shared.consume(batch->events.subspan(was_whole ? capture.size() - events : 0));
      }
      outline.read(*batch);
      overview.consume(*batch, outline);
      ends.consume(*batch, outline);
      if (!options.reopen) {
        forks.consume(*batch, reader.tables());
      }
    }
    passes.consume(*batch, outline, reader.tables());
    events += batch->events.size();
    if (options.progress) {
      options.progress(events);
    }
    if (passes.out_of_memory() || (options.cancelled && options.cancelled())) {
      capture.cut();
      break;
    }
  }
  const Result<std::uint64_t> seen = passes.finish(reader.tables());
  if (!seen.ok()) {
    return seen.status();
  }
  if (*seen < events) {
    capture.cut();
  }
  return seen;
}

// All of a long trace that matters to more than one thread, if that can be had; else no projection. The first look at the
// trace may have ended after `events`, and then so does this one.
TraceCapture project(const AnalysisOptions& options, const TraceCapture& beginning, const SharedMemory& shared,
                     std::uint64_t events, bool deep, const Report& report) {
  // Unrecorded calls, and whoever executes the code again, may touch what one thread seems to have to itself.
  const bool useful = beginning.size() < events && beginning.calls() == 0 && !deep && !options.detectors.empty();
  if (!useful || !options.read_again || options.proof.max_events == 0) {
    return TraceCapture(0);
  }
  const Result<std::unique_ptr<TraceReader>> reader = options.read_again();
  TraceCapture capture(options.proof.max_events, (columns_for(options.detectors) & kValues) != 0, shared);
  for (std::uint64_t seen = 0; seen < events && capture.whole();) {
    Result<Batch> batch = reader.ok() ? (*reader)->next() : reader.status();
    if (!batch.ok()) {
      return TraceCapture(0);  // whoever explains the findings tells of it
    }
    if (batch->empty()) {
      break;
    }
    if (!report.exact) {
      batch->values = {};
    }
    capture.consume(*batch);
    seen += batch->events.size();
  }
  if (beginning.is_cut()) {
    capture.cut();
  }
  return capture;
}

// Where the things in findings come from: from the part of the trace that was kept, if that is enough.
void explain(const AnalysisOptions& options, const TraceCapture& capture, const ForkLog& forks, const Tables& tables,
             Report& report) {
  if (report.findings.empty()) {
    return;
  }
  if (events_named(report.findings) <= capture.size() || !options.reopen) {
    add_context(report.findings, capture.batch(), tables);
    add_thread_context(report.findings, forks, tables);
    return;
  }
  Result<std::unique_ptr<TraceReader>> again = options.reopen();
  const Status status = again.ok() ? add_context(report.findings, **again) : std::move(again).status();
  if (!status.ok()) {
    report.notes.push_back(
        "Where memory, threads and locks come from is not told: the trace could not be read again: " +
        status.message());
  }
}

std::size_t count_lost(const PairTable& with, const PairTable& without) {
  std::set<std::pair<SiteId, SiteId>> found;
  for (const SitePair& pair : with.pairs()) {
    found.emplace(pair.low_site, pair.high_site);
  }
  return static_cast<std::size_t>(
      std::count_if(without.pairs().begin(), without.pairs().end(), [&](const SitePair& pair) {
        return !found.contains({pair.low_site, pair.high_site});
      }));
}

// What the filter did, and what the reader of the report must know of it.
void report_filter(const DetectorPasses& passes, const TreeModeInfo& mode, const TraceCensus& census, Report& report) {
  const FilterCounts counts = passes.filter()->counts();
  report.stats.filter = FilterStats{std::string(mode.name), census.events_of(Op::kRead) + census.events_of(Op::kWrite),
                                    counts.hidden_intra,    counts.hidden_inter,
                                    counts.locations,       counts.memory,
                                    passes.filter_seconds()};
  report.notes.push_back("The filter " + std::string(mode.name) + " hid " +
                         std::to_string(counts.hidden_intra + counts.hidden_inter) +
                         " accesses from the analyses; dynamic pairs and distances are those of the others.");
  if (mode.first_race_only) {
    report.add_gap(GapKind::kWindow,
                   std::string(mode.name) + " keeps the first race of the trace; other pairs may be missing.");
  }
  for (std::size_t i = 0; i < passes.unfiltered().size(); ++i) {
    report.stats.analyses[i].seconds_unfiltered = passes.unfiltered()[i].seconds;
    const std::size_t lost =
        count_lost(passes.detectors()[i].detector->races(), passes.unfiltered()[i].detector->races());
    if (lost > 0 && !mode.first_race_only) {
      report.notes.push_back("The filter " + std::string(mode.name) + " lost " + std::to_string(lost) +
                             " of the pairs of " + std::string(passes.detectors()[i].info->name) +
                             ". That is a fault of sooth: please report it.");
    }
  }
}

// What was not looked at because there was no memory for it: unknown, not absent.
void report_memory(const AnalysisOptions& options, const DetectorPasses& passes, std::uint64_t events, Report& report) {
  const std::string ceiling = std::to_string(options.max_memory / 1'000'000) + " MB of --max-memory";
  if (passes.out_of_memory()) {
    report.incomplete = true;
    report.add_gap(GapKind::kWindow, "Only the first " + std::to_string(events) +
                                         " events of the trace were analysed: more of them need more than the " +
                                         ceiling + ". What comes later is unknown.");
  }
  for (const RunningDetector& each : passes.detectors()) {
    if (each.stopped_at.has_value()) {
      report.incomplete = true;
      report.add_gap(GapKind::kWindow, std::string(each.info->name) + " ended after " +
                                           std::to_string(*each.stopped_at) + " of " + std::to_string(events) +
                                           " events, where it came to the " + ceiling +
                                           ": it tells what it had found by then, and the rest is unknown to it.");
    }
  }
}

// What left the spool of a trace that came by only once before it was known to matter.
void report_spool(const AnalysisOptions& options, const DetectorPasses& passes, Report& report) {
  if (passes.late_places() > 0) {
    report.add_gap(GapKind::kWindow, "In " + counted(passes.late_places(), "place", "places") +
                                         " in memory a lack of order was found longer after the first use than the " +
                                         std::to_string(options.spool_bytes / 1'000'000) +
                                         " MB of --live-disk reach back: what was done there before was not compared.");
  }
  if (!passes.spool_status().ok()) {
    report.add_gap(GapKind::kWindow,
                   "Accesses to memory that was private until then were not compared with later ones, "
                   "because there is no place for them: " +
                       passes.spool_status().message() + ".");
  }
}

const DetectorInfo* find_in(const std::vector<const DetectorInfo*>& detectors, std::string_view name) {
  const auto found =
      std::find_if(detectors.begin(), detectors.end(), [&](const DetectorInfo* info) { return info->name == name; });
  return found == detectors.end() ? nullptr : *found;
}

// Its row among those of the detectors is where the registry has it.
void add_stats(const DetectorInfo& info, AnalysisStats stats, Report& report) {
  const auto later = std::find_if(report.stats.analyses.begin(), report.stats.analyses.end(),
                                  [&](const AnalysisStats& other) { return find_detector(other.name) > &info; });
  report.stats.analyses.insert(later, std::move(stats));
}

void add_mcm(const DetectorInfo& info, std::vector<Claim>& claims, ProofCount& proven, const TraceCapture& capture,
             const Tables& tables, const AnalysisOptions& options, Report& report) {
  McmStageResult result = run_mcm_stage(info, claims, proven, capture, tables, report.exact, options.mcm);
  proven.checked += result.proven.checked;
  proven.refuted += result.proven.refuted;
  proven.rejected += result.proven.rejected;
  add_stats(info, std::move(result.stats), report);
  for (const Gap& gap : result.gaps) {
    report.add_gap(gap.kind, gap.text);
  }
}

bool wants_recipe(const AnalysisOptions& options) {
  return find_in(options.detectors, "recipe") != nullptr || find_in(options.detectors, "recipe:s") != nullptr;
}

// The code of the program, if recipe is to look at it.
Result<std::optional<DeepProgram>> load_program(const TraceReader& reader, const AnalysisOptions& options) {
  if (!wants_recipe(options)) {
    return std::optional<DeepProgram>();
  }
  constexpr char kHow[] =
      "build the program with `sooth c++ --deep` and record it with `sooth record --schedule serial`";
  if (!reader.info().exact) {
    return Status::usage(std::string("recipe needs to know what every read found and in which order all happened, "
                                     "which this trace does not tell: ") +
                         kHow);
  }
  if ((reader.info().columns & kDeep) == 0 || !options.deep_program) {
    return Status::usage(
        std::string("recipe executes the code of the program again, which this trace does not have: ") + kHow);
  }
  Result<DeepProgram> program = options.deep_program();
  if (!program.ok()) {
    return std::move(program).status();
  }
  return std::optional(std::move(*program));
}

// First without branches that were not taken: what is found then is known afterwards.
Status add_recipe(std::vector<Claim>& claims, ProofCount& proven, const TraceCapture& capture, const Tables& tables,
                  const DeepProgram& program, const AnalysisOptions& options, Report& report) {
  const FunctionNames stateless =
      options.stateless_functions && wants_recipe(options) ? options.stateless_functions() : FunctionNames();
  for (const std::string_view name : {"recipe:s", "recipe"}) {
    const DetectorInfo* info = find_in(options.detectors, name);
    if (info == nullptr) {
      continue;
    }
    RecipeStageOptions stage{
        options.recipe, options.mcm,
        find_in(options.detectors, "mcm") != nullptr || find_in(options.detectors, "rdit") != nullptr, stateless};
    stage.recipe.detours = name == "recipe";
    Result<RecipeStageResult> result = run_recipe_stage(*info, claims, proven, capture, tables, program, stage);
    if (!result.ok()) {
      return std::move(result).status();
    }
    proven.checked += result->proven.checked;
    proven.rejected += result->proven.rejected;
    add_stats(*info, std::move(result->stats), report);
    for (const Gap& gap : result->gaps) {
      report.add_gap(gap.kind, gap.text);
    }
  }
  return {};
}

void add_notes(const ProofCount& proven, Report& report) {
  if (proven.refuted > 0) {
    report.notes.push_back(
        counted(proven.refuted, "pair", "pairs") +
        " of accesses cannot meet in any reordering of the recorded run in which every read keeps its "
        "value. In other runs they may.");
  }
  if (proven.rejected > 0) {
    report.notes.push_back(counted(proven.rejected, "witness was", "witnesses were") +
                           " rejected by the checker. That is a fault of sooth: please report it.");
  }
}

// Those that may be wrong anyway take a trace with calls, but do not know of them.
void add_call_note(std::uint64_t calls, const std::vector<const DetectorInfo*>& detectors, Report& report) {
  std::string unaware;
  for (const DetectorInfo* info : detectors) {
    const bool guesses = info->guarantee == Guarantee::kHeuristic;
    unaware += guesses ? (unaware.empty() ? "" : ", ") + std::string(info->name) : "";
  }
  if (calls > 0 && !unaware.empty()) {
    report.add_gap(GapKind::kExcludedCode,
                   counted(calls, "call was", "calls were") +
                       " not recorded, and what they may have ordered is unknown to " + unaware +
                       ": what has no checked witness may be a false alarm because of that. rdit knows (--with rdit).");
  }
}

// A call that may touch everything keeps much in order that it has nothing to do with.
void add_reach_note(std::uint64_t calls, Report& report) {
  if (calls > 0) {
    report.add_gap(GapKind::kExcludedCode,
                   std::to_string(calls) + (calls == 1 ? " call" : " calls") +
                       " of code that was left out may touch anything, and races around them are missed for it: `sooth "
                       "record --reach touched` tells what it touches, if all "
                       "of it is instrumented.");
  }
}

// Whether a block that the program declares begins or ends there.
bool is_declared_block(const Site& function) {
  return function.function.starts_with(kDeclaredBlock) || function.label.starts_with(kDeclaredBlock);
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const DetectorInfo& info : detectors()) {
    names.emplace_back(info.name);
  }
  names.emplace_back("none");
  return names;
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
      return Status::usage(no_such("analysis", word, known_names()));
    }
  }
  if (!any) {
    return Status::usage("--with needs the name of an analysis; `sooth analyze --list` lists them");
  }
  std::vector<const DetectorInfo*> rows;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) {
      rows.push_back(&detectors()[i]);
    }
  }
  return rows;
}

ColumnSet columns_for(const std::vector<const DetectorInfo*>& detectors) {
  if (detectors.empty()) {
    return kNoColumns;
  }
  const bool deep = find_in(detectors, "recipe") != nullptr || find_in(detectors, "recipe:s") != nullptr;
  // Locks that the program made are known by their values.
  const bool values = deep || find_in(detectors, "mcm") != nullptr || find_in(detectors, "rdit") != nullptr ||
                      std::any_of(detectors.begin(), detectors.end(),
                                  [](const DetectorInfo* info) { return info->sees_locks != SeesLocks::kOfTrace; });
  return kStacks | kBranches | kReaches | (values ? kValues : kNoColumns) | (deep ? kDeep : kNoColumns);
}

Result<Report> analyze_trace(TraceReader& reader, const AnalysisOptions& options) {
  const Clock::time_point start = Clock::now();
  const Result<std::optional<DeepProgram>> program = load_program(reader, options);
  if (!program.ok()) {
    return program.status();
  }
  AnalysisOptions told = options;
  told.detector.is_atomic = [&](SiteId function) { return is_declared_block(reader.tables().site(function)); };
  DetectorPasses passes(told);
  TraceCensus census;
  TraceCapture capture(options.proof.max_events, (columns_for(options.detectors) & kValues) != 0);
  ForkLog forks;
  OverviewCollector overview;
  ThreadEnds ends;
  SharedMemory shared;
  Result<std::uint64_t> events = run(reader, options, passes, census, capture, shared, forks, overview, ends);
  if (!events.ok()) {
    return std::move(events).status();
  }
  if (options.detected) {
    options.detected();
  }
  if (!options.barrier_globals.empty()) {
    const Result<std::vector<Reach>> globals =
        find_globals(reader.tables(), capture.view(reader.tables()).events, options.barrier_globals);
    if (!globals.ok()) {
      return globals.status();
    }
    capture.reach_everywhere(*globals);
  }
  Report report;
  report.program = reader.info().program;
  report.exact = reader.info().exact;
  report.incomplete = reader.info().incomplete || !reader.info().stopped.empty();
  if (reader.info().incomplete) {
    report.add_gap(GapKind::kRecording, "The trace is incomplete: its writer did not finish. Analysed are the " +
                                            std::to_string(*events) + " events that it had written.");
  }
  report_memory(options, passes, *events, report);
  report_spool(options, passes, report);
  if (capture.is_cut() && !passes.out_of_memory()) {
    const bool hurried = options.out_of_time && options.out_of_time();
    report.incomplete = true;
    report.add_gap(hurried ? GapKind::kBudget : GapKind::kRecording,
                   (options.why_cancelled ? options.why_cancelled() : "Interrupted") + ": only the first " +
                       std::to_string(*events) + " events of the trace were analysed.");
  }
  if (!capture.is_cut() && reader.info().stopped.empty()) {
    for (const std::string& sentence : ends.sentences(reader.tables())) {
      report.add_gap(GapKind::kRecording, sentence);
    }
  }
  std::vector<FinishedDetector> finished;
  for (const RunningDetector& each : passes.detectors()) {
    finished.push_back({each.info, each.detector.get(), each.slots ? &passes.slots() : nullptr});
    report.stats.analyses.push_back(stats_of(each, reader.tables()));
    for (std::string& note : each.detector->notes()) {
      report.add_gap(GapKind::kWindow, note);
    }
  }
  if (options.filter.has_value()) {
    report_filter(passes, tree_modes()[raw(options.filter->mode)], census, report);
  }
  const Clock::time_point proof_start = Clock::now();
  std::vector<Claim> claims = make_claims(finished, reader.tables(), report.exact);
  // Reading the trace again is for claims, and for those who look for some of their own.
  const bool asked =
      !claims.empty() || find_in(options.detectors, "mcm") != nullptr || find_in(options.detectors, "rdit") != nullptr;
  const TraceCapture projection =
      asked ? project(options, capture, shared, *events, program->has_value(), report) : TraceCapture(0);
  const TraceCapture& kept = projection.is_projection() ? projection : capture;
  ProofOptions proof = options.proof;
  proof.variables = &passes.variables();
  ProofCount proven = prove(claims, kept, reader.tables(), proof);
  for (const char* name : {"mcm", "rdit"}) {
    if (const DetectorInfo* info = find_in(options.detectors, name)) {
      add_mcm(*info, claims, proven, kept, reader.tables(), options, report);
    }
  }
  if (program->has_value()) {
    SOOTH_RETURN_IF_ERROR(add_recipe(claims, proven, capture, reader.tables(), **program, options, report));
  }
  recognise_hand_overs(claims, kept, reader.tables(), options.suspicions_out_of_time);
  add_call_note(capture.calls(), options.detectors, report);
  add_reach_note(capture.unbounded_calls(), report);
  add_notes(proven, report);
  for (Claim& claim : claims) {
    report.findings.push_back(std::move(claim.finding));
  }
  for (Finding& finding : misuse_findings(finished, reader.tables(), report.exact)) {
    report.findings.push_back(std::move(finding));
  }
  for (Finding& finding : atomicity_findings(finished, reader.tables(), report.exact)) {
    report.findings.push_back(std::move(finding));
  }
  report.stats.witness_seconds = seconds_since(proof_start);
  explain(options, capture, forks, reader.tables(), report);
  report.stats.events = *events;
  if (!options.detectors.empty()) {
    report.overview = overview.overview(reader.tables());
  }
  report.stats.threads = reader.tables().thread_count();
  report.stats.locks = census.locks();
  report.stats.variables = census.variables();
  report.stats.sites = reader.tables().site_count();
  report.stats.seconds = seconds_since(start);
  return report;
}

}  // namespace sooth
