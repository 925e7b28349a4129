#include "cli/test_pairs.h"

#include <memory>
#include <string>

#include "confirm/site_code.h"
#include "launch/captured_process.h"
#include "launch/complete_recording.h"
#include "launch/engine.h"
#include "launch/environment.h"
#include "launch/preflight.h"
#include "launch/private_directory.h"
#include "launch/recording_set.h"
#include "pipeline/analysis.h"
#include "report/describe.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "trace/reader.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMaxRecording = 1'000'000'000;  // bytes; what comes later is found with another seed, or not

// Runs the program and records it into `directory`, which is made.
Status record(const ControlledProgram& program, const std::string& directory, std::uint64_t seed,
              const CaptureLimits& limits) {
  const Result<RecordingSet> set = RecordingSet::prepare(directory);
  if (!set.ok()) {
    return set.status();
  }
  RecordingTarget target;
  target.directory = set->absolute();
  RecordingOptions options;
  options.schedule = "random";
  options.seed = seed;
  options.max_bytes = kMaxRecording;
  const auto environment = recording_environment(current_environment(), program.library(), target, options);
  if (!environment.ok()) {
    return environment.status();
  }
  const Result<Captured> captured = run_captured(started_words(program.words()), *environment, limits);
  if (!captured.ok()) {
    return captured.status();
  }
  if (set->made().empty() && !captured->cancelled) {
    return Status::bad_input("nothing was recorded of " + program.path() + ". " + kHowToInstrument);
  }
  if (captured->cancelled) {
    return {};
  }
  const Result<CompletedRecording> completed = complete_recording(directory);
  return completed.ok() ? Status() : completed.status();
}

Result<Report> analyze(const std::string& directory) {
  Result<std::unique_ptr<TraceReader>> reader = open_trace(directory, {kStacks});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  auto detectors = parse_detectors("hybrid,atomicity");
  if (!detectors.ok()) {
    return std::move(detectors).status();
  }
  AnalysisOptions options;
  options.detectors = std::move(*detectors);
  options.proof.max_events = 0;  // a run is a better proof
  return analyze_trace(**reader, options);
}

}  // namespace

Result<std::vector<DirectedPair>> find_test_pairs(const ControlledProgram& program, std::uint64_t seed,
                                                  std::chrono::milliseconds timeout, const std::atomic<bool>* cancel) {
  const Result<PrivateDirectory> place = PrivateDirectory::create(8 * kMaxRecording);
  if (!place.ok()) {
    return place.status();
  }
  const std::string directory = place->path() + "/trace";
  SOOTH_RETURN_IF_ERROR(record(program, directory, seed, {timeout, 0, cancel}));
  std::vector<DirectedPair> pairs;
  if (cancel != nullptr && cancel->load()) {
    return pairs;
  }
  Result<Report> report = analyze(directory);
  if (!report.ok()) {
    return std::move(report).status();
  }
  fill_fingerprints(*report);
  merge_equal_pairs(*report, UserCode());
  CodeFinder finder(program.path(), report->program, directory);
  for (const Finding& finding : report->findings) {
    if (finding.kind != FindingKind::kRace || finding.accesses.size() != 2) {
      continue;
    }
    if (Result<PairCode> code = finder.find_pair(finding); code.ok()) {
      pairs.push_back({finding.id, sooth::place(finding.accesses[0].place()), sooth::place(finding.accesses[1].place()),
                       std::move(*code)});
    }
  }
  std::vector<const Finding*> findings;
  for (const Finding& finding : report->findings) {
    findings.push_back(&finding);
  }
  for (std::vector<SiteCode>& acquires : code_of_splits(findings, finder)) {
    pairs.push_back({"", "", "", {std::move(acquires), {}}, true});
  }
  return pairs;
}

}  // namespace sooth
