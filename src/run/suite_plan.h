// A test suite times schedules, cut into units that any machine can do in any order: the plan of `sooth campaign`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

inline constexpr std::string_view kSuiteSchema = "sooth-campaign/1";

// One command of the suite.
struct SuiteTest {
  std::string name;                      // for people; no two tests have the same
  std::vector<std::string> words;        // program and arguments
  std::string directory;                 // that it starts in, absolute
  std::vector<std::string> environment;  // NAME=VALUE each, on top of that of the plan

  friend bool operator==(const SuiteTest&, const SuiteTest&) = default;
};

// What the first recording of a unit is made under; its controlled runs draw from the seed, too.
struct SuiteSchedule {
  std::string schedule;  // as `sooth record --schedule` takes it
  std::uint64_t seed = 1;

  friend bool operator==(const SuiteSchedule&, const SuiteSchedule&) = default;
};

// One unit: a test under a schedule. Refers to the plan.
struct SuiteUnit {
  const SuiteTest& test;
  const SuiteSchedule& schedule;

  // "tests/queue (random, seed 3)".
  std::string name() const;
};

struct SuitePlan {
  std::vector<std::string> options;      // of `sooth run`, the same for every unit
  std::vector<std::string> environment;  // NAME=VALUE each: all that tests see, whatever the machine of a worker has
  std::vector<SuiteTest> tests;
  std::vector<SuiteSchedule> schedules;

  std::uint64_t units() const { return std::uint64_t{tests.size()} * schedules.size(); }
  // `number`: from 1 to units(). Units that follow each other have the same schedule and different tests, so that the
  // first ones of a campaign that is cut short have been everywhere once.
  SuiteUnit unit(std::uint64_t number) const;

  friend bool operator==(const SuitePlan&, const SuitePlan&) = default;
};

// What of `current` (NAME=VALUE each) belongs to the plan: where things are, and the user's language. `more` has NAMEs
// whose values are taken as well, and settings NAME=VALUE. The rest differs from machine to machine and may be secret.
std::vector<std::string> suite_environment(const std::vector<std::string>& current,
                                           const std::vector<std::string>& more);

// Replaces or adds.
void set_variable(const std::string& setting, std::vector<std::string>& environment);

// `count` of them: serial with `seed`, then random, pct:3, pos and surw in turn, with the seeds behind it.
std::vector<SuiteSchedule> suite_schedules(std::uint64_t count, std::uint64_t seed);

// A shell command a line, each started in `directory`. Empty lines and those that begin with # count for nothing. A line
// that only a shell understands becomes `sh -c LINE`. Fails when there is none.
Result<std::vector<SuiteTest>> tests_of_lines(std::string_view text, const std::string& directory);

// What `ctest --show-only=json-v1` prints: commands, folders and environments of tests that are not disabled. A test
// without a folder starts in `directory`. Fails on anything else, and when there is no test.
Result<std::vector<SuiteTest>> tests_of_ctest(std::string_view json, const std::string& directory);

// There and back; `path` is for the sentence that tells what is wrong, whatever bytes are handed in.
std::string print_plan(const SuitePlan& plan);
Result<SuitePlan> parse_plan(std::string_view text, const std::string& path);

// The numbers as people and `sbatch --array` write them: "1-4,7".
std::string number_ranges(const std::vector<std::uint64_t>& ascending);
// The inverse, in ascending order and each once. Fails unless every number is from 1 to `most`.
Result<std::vector<std::uint64_t>> parse_ranges(std::string_view text, std::uint64_t most);

}  // namespace sooth
