// From the places of a finding to the code that the scheduler has to watch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "race/finding.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"
#include "symbol/line_code.h"

namespace sooth {

// Bits of control::SiteRange::kinds for an access of the op. A free writes.
std::uint32_t access_kinds(Op op);
// Whether an access of the kinds `found` is one of those that `wanted` stands for: both atomic or both plain, and
// reading or writing in common.
bool same_kinds(std::uint32_t wanted, std::uint32_t found);

// The code of one place.
struct PlaceCode {
  std::string module;                // as SiteCode::module
  std::vector<AddressRange> ranges;  // sorted, disjoint
};

// The code of the two places of a race.
struct PairCode {
  std::vector<SiteCode> sites;           // by module, then begin; disjoint
  std::array<std::uint32_t, 2> kinds{};  // of the two accesses

  // Whether the two threads stand in front of this pair: one at each of its places, with an access of its kind. Ranges
  // are those of the control file, which has `sites` in this order.
  bool is_met_by(const RacingThread& here, const RacingThread& other) const;
  // Likewise, `first` at the first place and `second` at the second.
  bool is_met_by_in_order(const RacingThread& first, const RacingThread& second) const;
};

// Merges the two into disjoint ranges; where they overlap, a range belongs to both and has the kinds of both.
PairCode pair_code(const PlaceCode& first, std::uint32_t first_kinds, const PlaceCode& second,
                   std::uint32_t second_kinds);

// The code of the acquires of a deadlock, for a run that stops threads in front of them.
std::vector<SiteCode> acquire_code(const std::vector<PlaceCode>& acquires);

// The code of two acquires of one lock, for a run in which the section of the latter comes in front of that of the
// former. `is_first_there`: the section before that of the former begins at the same place.
std::vector<SiteCode> split_code(const PlaceCode& second, const PlaceCode& between, bool is_first_there = false);

class CodeFinder;
// split_code() of the splits among the findings, each two places once; kMostSplits at most.
std::vector<std::vector<SiteCode>> code_of_splits(const std::vector<const Finding*>& findings, CodeFinder& finder);
inline constexpr std::size_t kMostSplits = 16;

// Finds the code of places in the files as they are now. Not thread safe.
class CodeFinder {
 public:
  // `program`: path of the executable that is going to run; empty: places are in programs that it starts, and these are
  // where they were. `recorded`: command line of the recorded one. `trace`: where the recording is, if it still is, for
  // the build ids of what ran then; may be empty.
  CodeFinder(std::string program, const std::string& recorded, const std::string& trace);

  // All code of the place's file, line and column, and what was recorded itself. Without debug information only the
  // latter, and nothing when the module is not the recorded one any more. The error says why there is none.
  Result<PlaceCode> find(const Site& site);
  // Of an access that was not executed nothing was recorded: all code of its file, line and column in the module that
  // the site names or, if it names none, in the program, or else in the first of the recorded modules that has some.
  Result<PlaceCode> find_unexecuted(const Site& site);
  Result<PairCode> find_pair(const Finding& race);

  // Sentences about modules that have changed or have no lines, each once, in the order in which they were met.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Opened {
    std::unique_ptr<LineCode> lines;  // nullptr: the file cannot be read
    bool changed = false;
  };
  bool is_program(const std::string& module) const;
  Opened& open(const std::string& path, const std::string& recorded_path);
  void note(std::string sentence);

  std::string program_;
  std::string recorded_name_;                     // file name of the recorded program
  std::map<std::string, std::string> build_ids_;  // by recorded path
  std::map<std::string, Opened> opened_;          // by path
  std::vector<std::string> notes_;
};

}  // namespace sooth
