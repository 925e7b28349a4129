// One pass over a trace for all analyses that the user named.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "deep/program.h"
#include "filter/tree.h"
#include "pipeline/proof.h"
#include "pipeline/registry.h"
#include "predict/mcm.h"
#include "race/finding.h"
#include "race/user_code.h"
#include "recipe/recipe.h"
#include "symbol/stateless_libraries.h"
#include "trace/reader.h"

namespace sooth {

struct AnalysisOptions {
  std::vector<const DetectorInfo*> detectors;  // in the order of the registry; empty for the decode-only pass
  DetectorOptions detector;
  std::optional<TreeOptions> filter;  // in front of the detectors, as choose_filter() sets it up for them
  bool compare_unfiltered = false;    // run each detector once more without the filter: for times, and a check
  bool census = false;                // count locks, variables and sites for ReportStats
  bool first_look = true;             // look where memory is shared first, if the trace can be read again (passes.h)
  std::uint64_t first_look_events = std::uint64_t{1} << 18;  // ... after so many it is decided who goes on with that
  // Bytes of disk for a trace that comes by only once, so that it can be looked at again (passes.h); 0: the detectors see
  // everything as it comes.
  std::uint64_t spool_bytes = 0;
  std::string spool_folder = "/tmp";
  std::uint32_t spool_segment_events = 1u << 16;  // that go to the disk at once; for tests
  // Bytes that the process may take while the trace is read; 0: as many as it takes. An analysis for which that is not
  // enough ends early, and the report says so.
  std::uint64_t max_memory = 0;
  std::uint64_t memory_sample_events = ~std::uint64_t{0};  // how often it is looked at, at least; for tests
  std::function<std::uint64_t()> memory_in_use;            // likewise; otherwise resident_bytes() is asked
  ProofOptions proof;
  McmOptions mcm;
  RecipeOptions recipe;
  // The code of the recorded program, for recipe; the error says why there is none. Without it recipe is refused.
  std::function<Result<DeepProgram>()> deep_program;
  // The functions of the program that keep nothing for a later call (symbol/stateless_libraries.h); without it, those of
  // the C and C++ libraries.
  std::function<FunctionNames()> stateless_functions;
  std::vector<std::string> barrier_globals;  // variables that every call reaches which was not recorded
  UserCode user_code;                        // by whose places heap blocks are told apart
  // Opens the trace once more, with stacks: for the detectors, after a first look, and to look up where the things in
  // findings come from. Without it (standard input) they are explained as far as the part of the trace goes that was kept
  // for witnesses, and threads beyond that.
  std::function<Result<std::unique_ptr<TraceReader>>()> reopen;
  // The same with all columns that it had the first time, so that ids mean the same: to look for proofs behind the
  // beginning of a long trace (trace_capture.h). Without it they are looked for in the beginning only.
  std::function<Result<std::unique_ptr<TraceReader>>()> read_again;
  // Called after each batch with the number of events so far.
  std::function<void(std::uint64_t events)> progress;
  // Asked after each batch: whether to leave it at what was read so far. The report then says so, and why: "Interrupted"
  // when nobody is there to ask.
  std::function<bool()> cancelled;
  std::function<std::string()> why_cancelled;
  // Asked when it was cancelled: whether that was because the time for reading was over.
  std::function<bool()> out_of_time;
  // Asked while suspicions are looked at (hand_over_stage.h), as soon as that begins.
  std::function<bool()> suspicions_out_of_time;
  // Called when the trace was read, and before proofs are looked for.
  std::function<void()> detected;
};

// "hb,lockset" -> rows of the registry with their companions, in its order and without duplicates; "none" -> no rows.
// The error names what there is.
Result<std::vector<const DetectorInfo*>> parse_detectors(const std::string& names);

// The side columns that the analyses look at.
ColumnSet columns_for(const std::vector<const DetectorInfo*>& detectors);

// Reads the whole trace, refuses a malformed one with the sentence of the validator, and returns what was found: one
// finding per pair of site ids, without fingerprint, proven as far as options.proof goes. Notes say what the report
// should not be trusted for.
Result<Report> analyze_trace(TraceReader& reader, const AnalysisOptions& options);

}  // namespace sooth
