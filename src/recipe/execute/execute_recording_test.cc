// Real programs: built with `sooth c++ --deep`, recorded, followed. SOOTH_RECORDING=DIR[:DIR...] looks at others, and
// prints how much of them was covered.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/ids.h"
#include "predict/trace_index.h"
#include "race/trace_store.h"
#include "recipe/execute/thread_trace.h"
#include "recipe/judge/judge_recording.h"
#include "trace/reader.h"

namespace sooth {
namespace {

struct Recording {
  DeepProgram program;
  TraceStore trace;
};

Result<Recording> open(const std::string& folder) {
  Result<DeepProgram> program = DeepProgram::load(folder);
  if (!program.ok()) {
    return program.status();
  }
  Result<std::unique_ptr<TraceReader>> reader = open_trace(folder, {.columns = kValues | kDeep});
  if (!reader.ok()) {
    return reader.status();
  }
  Result<TraceStore> trace = load_trace(**reader, 1u << 30, kWholeTrace);
  if (!trace.ok()) {
    return trace.status();
  }
  return Recording{std::move(*program), std::move(*trace)};
}

// Whether what a path says of itself is true of the recorded run.
void check_recorded(const SymbolicProgram& made, const TraceView& trace, const TraceIndex& index) {
  const std::vector<std::uint64_t> values = made.expressions.evaluate_all(made.recorded);
  for (const SymbolicThread& thread : made.threads) {
    std::uint32_t position = 0;
    for (const PathCondition& condition : thread.conditions) {
      ASSERT_EQ(values[raw(condition.holds)], 1u) << made.expressions.to_string(condition.holds);
      ASSERT_GE(condition.position, position);
      position = condition.position;
    }
    for (const SymbolicAccess& access : thread.accesses) {
      ASSERT_EQ(index.thread(access.event), thread.thread);
      const Event& event = trace.events[access.event];
      if (access.read != kNoExpr) {
        ASSERT_EQ(values[raw(access.read)], trace.values[access.event].low);
      }
      if (access.written != kNoExpr && event.op != Op::kAtomicRmw) {
        ASSERT_EQ(values[raw(access.written)], trace.values[access.event].low)
            << made.expressions.to_string(access.written);
      }
    }
    for (const Detour& detour : thread.detours) {
      ASSERT_LE(detour.conditions, thread.conditions.size());
      ASSERT_FALSE(detour.steps.empty());
      // The recorded run took the other side. What a compare-exchange would find is said by the step that it is.
      if (detour.taken == made.expressions.yes()) {
        ASSERT_TRUE(is_atomic(detour.steps[0].op));
      } else {
        ASSERT_EQ(values[raw(detour.taken)], 0u) << made.expressions.to_string(detour.taken);
      }
    }
  }
}

// What was made of a recording, in words.
std::string summary(const SymbolicProgram& made, const TraceIndex& index) {
  std::ostringstream out;
  for (const SymbolicThread& thread : made.threads) {
    std::size_t branches = 0;
    for (const PathCondition& condition : thread.conditions) {
      branches += condition.why == PathCondition::Why::kBranch ? 1 : 0;
    }
    out << "T" << thread.thread << ": " << index.events_of(thread.thread).size() << " events to " << thread.end << ", "
        << thread.coverage.instructions << " instructions, " << thread.coverage.symbolic << " symbolic, "
        << thread.coverage.concretised << " pinned, " << thread.coverage.opaque_calls << " calls without IR, "
        << thread.accesses.size() << " accesses, " << branches << " of " << thread.conditions.size()
        << " conditions are branches, " << thread.detours.size() << " detours"
        << (thread.why_ended.empty() ? "" : "; " + thread.why_ended) << "\n";
    if (std::getenv("SOOTH_VERBOSE") != nullptr) {
      for (const PathCondition& condition : thread.conditions) {
        out << "  " << condition.position << " " << static_cast<int>(condition.why) << " "
            << made.expressions.to_string(condition.holds) << "\n";
      }
      for (const Detour& detour : thread.detours) {
        out << "  detour at " << detour.position << " if " << made.expressions.to_string(detour.taken) << ": "
            << detour.stopped << "\n";
        for (const DetourStep& step : detour.steps) {
          out << "    " << op_name(step.op) << " " << std::hex << step.object << std::dec << " " << step.size << " at "
              << step.site.label << "\n";
        }
      }
    }
  }
  return out.str();
}

void look_at(const std::string& folder, bool must_be_whole) {
  Result<Recording> recording = open(folder);
  ASSERT_TRUE(recording.ok()) << folder << ": " << recording.status().message();
  const TraceView view = recording->trace.view();
  const TraceIndex index(view, {}, KeptOrder::kButAtomics);
  const auto begin = std::chrono::steady_clock::now();
  const Result<SymbolicProgram> made = execute_symbolically(recording->program, index, view, view.deep, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(made.ok()) << made.status().message();
  check_recorded(*made, view, index);
  const std::string problems = judge_recording(recording->program, view);
  if (!must_be_whole) {
    std::cout << folder << ": " << view.events.size() << " events, " << made->expressions.size() << " expressions, "
              << made->expressions.variable_count() << " variables, " << took.count() << " s\n"
              << summary(*made, index) << problems;
    return;
  }
  EXPECT_EQ(problems, "") << folder;
  for (const SymbolicThread& thread : made->threads) {
    EXPECT_EQ(thread.why_ended, "") << folder << "\n" << summary(*made, index);
  }
  EXPECT_GT(made->expressions.variable_count(), 0u) << folder;
}

class ExecuteRecording : public testing::TestWithParam<std::string> {};

TEST_P(ExecuteRecording, EveryThreadIsFollowedToItsEnd) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sooth-recipe-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string sources = GetParam();
  std::string command = "cd '" + folder.string() + "' && " SOOTH_BINARY " c++ --deep -std=c++20 -pthread";
  std::istringstream words(sources);
  for (std::string word; words >> word;) {
    command += word[0] == '-' ? " " + word : " " SOOTH_SOURCE_DIR "/" + word;
  }
  ASSERT_EQ(std::system((command + " -o prog > build.log 2>&1").c_str()), 0) << command;
  static_cast<void>(
      std::system(("cd '" + folder.string() +
                   "' && " SOOTH_BINARY " record --schedule serial --seed 7 -o trace -- ./prog > run.log 2>&1")
                      .c_str()));
  look_at((folder / "trace").string(), true);
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Programs, ExecuteRecording,
                         testing::Values("-O0 tests/deep/features.cc tests/deep/other.cc",
                                         "-O2 tests/deep/features.cc tests/deep/other.cc",
                                         "-O1 examples/bounded_buffer.cc", "-O0 examples/merge_sort.cc",
                                         "-O1 examples/elevator.cc"));

TEST(ExecuteRecordings, ThoseOfTheEnvironment) {
  const char* list = std::getenv("SOOTH_RECORDING");
  std::istringstream folders(list == nullptr ? "" : list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    look_at(folder, false);
  }
}

}  // namespace
}  // namespace sooth
