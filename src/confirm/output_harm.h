// Whether a race decides about what a program prints, or leaves in files: judged by what runs printed that created it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "confirm/output_mask.h"
#include "launch/controlled_run.h"
#include "schedule/run_log.h"

namespace sooth {

// What the program prints, on both of its streams.
inline constexpr char kItsOutput[] = "-";

// What of the run is compared: files, as RunOutcome::files has them, or kItsOutput.
std::string result_of(const RunOutcome& run, const std::vector<std::string>& compared);

// Results of runs that created one race and ended well; what is equal is kept once.
class ComparedRuns {
 public:
  struct Run {
    RunPlan plan;
    int order = 0;           // which of the two threads went first: 0 or 1
    std::size_t result = 0;  // place in results()
  };
  static constexpr std::size_t kMost = 64;  // runs; further ones are not looked at

  void add(const RunPlan& plan, int order, const std::string& result);
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<std::string>& results() const { return results_; }
  bool differ() const { return results_.size() > 1; }

 private:
  std::vector<Run> runs_;
  std::vector<std::string> results_;
};

struct OutputHarm {
  std::size_t run = 0;             // of ComparedRuns::runs(): one to show
  std::vector<std::string> lines;  // what it printed, masked
  std::uint64_t runs = 0;          // that printed so
  double chance = 1;               // that the order of the two has nothing to do with it
  std::string difference;          // difference_of() to the usual
};

// Chance below which the order decides. The results of a program are many, and each is a question to chance.
inline constexpr double kOtherOutput = 0.01;

// The order of the two accesses is drawn. If what is printed depends on it, with a chance below kOtherOutput by Fisher's
// exact test, the race is what decides. `usual`: what runs print that are not steered.
std::optional<OutputHarm> judge_outputs(const ComparedRuns& runs, const OutputMask& mask,
                                        const std::optional<std::vector<std::string>>& usual);

// What all of them are once they are masked; nullopt when they differ, and of none. Runs of a program whose output depends
// on its schedule for whatever reason differ, and then a race that goes with one of two results need not be the reason.
std::optional<std::vector<std::string>> common_output(const std::vector<std::string>& results, const OutputMask& mask);

}  // namespace sooth
