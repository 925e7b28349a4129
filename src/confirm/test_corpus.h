// Schedules that showed something new, kept in a directory from one campaign to the next, as fuzzers keep inputs.
//
//   DIR/NAME-BUILD/failure-HASH.schedule   schedule files (schedule_file.h) of runs that were the first to end so
//   DIR/NAME-BUILD/order-HASH.schedule     ... that were the first to show an order of two places
//   DIR/NAME.seeds                         how many seeds campaigns have used up
//
// NAME is the file name of the program and BUILD a hash of the file: places in the code are offsets, which mean nothing to
// another build. What an older build left is tried once without them, and then removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/schedule_file.h"

namespace sooth {

class TestCorpus {
 public:
  // What is worth to be run again.
  struct Kept {
    std::string path;
    ScheduleFile schedule;
    bool is_of_other_build = false;
  };
  static constexpr std::size_t kMost = 1'000;  // schedules of one build

  // Makes the directory if there is none. `program`: path of the executable. Files that are no schedules are an error,
  // which names them: it may be the wrong directory.
  static Result<TestCorpus> open(const std::string& directory, const std::string& program);

  // Failures first, those of other builds last, then by name.
  const std::vector<Kept>& kept() const { return kept_; }
  // The plan of a run that repeats it; of another build without places.
  static RunPlan plan_of(const Kept& kept);
  // How many seeds earlier campaigns have used up.
  std::uint64_t seeds() const { return seeds_; }

  // False: there is no room for it, or it is there already.
  Result<bool> add(const ScheduleFile& schedule, bool is_failure);
  Status remove(const Kept& kept) const;
  // At the end of a campaign: so many seeds were used up in all, and other builds are done with.
  Status finish(std::uint64_t seeds) const;

 private:
  std::string directory_, name_, build_;  // build_: NAME-BUILD
  std::vector<Kept> kept_;
  std::size_t count_ = 0;  // of this build
  std::uint64_t seeds_ = 0;
};

}  // namespace sooth
