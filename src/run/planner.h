// What `sooth run` does next. Bookkeeping only: no program, no clock, so that every rule can be tested.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "confirm/campaign.h"  // kTurns

namespace sooth {

// How much speaks for a candidate, the most first.
enum class Promise : std::uint8_t {
  kPredicted,  // a witness, or the recorded run itself
  kRefuted,    // locks and must-order let it happen; only the values that reads saw do not
  kHybrid,     // not both locked, and not ordered for certain
  kHard,       // ... unless by what atomics and semaphores did in that run
  kLockset,    // no lock in common
};

// The rules, as docs/run.md tells them:
// - Candidates that have not been tried come first, the best of them first; of those that speak for themselves equally,
//   one of each family before a second of any.
// - Real programs can have hundreds that are only suspected: these share the time with further recordings, which may show
//   more, and leave the last fifth of it to other schedules.
// - Then the program is recorded again under another schedule, and candidates have further turns: kRunsPerRecording
//   runs for each further recording.
// - Recordings end when as many in a row brought no new pair of sites as had been made when the last new one came, but
//   at least kDryRecordings. None is started that would not fit into what is left of the budget.
// - All ends when there is no candidate left to try and no recording to make, or with the budget.
class Planner {
 public:
  static constexpr std::uint64_t kDryRecordings = 12;
  static constexpr std::uint64_t kRunsPerRecording = 10;
  static constexpr std::size_t kMostAtOnce = 16;  // candidates: news must not wait for long
  static constexpr std::uint64_t kSuspectsPerRecording = 32;

  struct Options {
    std::chrono::milliseconds budget{0};  // 0: there is no end
    std::uint64_t trials = 30;            // of one candidate
    bool records = true;                  // the program may be recorded again
    std::uint64_t max_recordings = 0;     // the first one included; 0: by the rules
  };
  enum class Kind : std::uint8_t { kTryFindings, kRecord, kStop };
  enum class Stop : std::uint8_t {
    kNot,
    kBudget,      // spent
    kTooShort,    // what is left of it is too short for another recording
    kNothingNew,  // the rule above
    kNoRecords,   // Options::records
    kEnough,      // Options::max_recordings
  };
  struct Step {
    Kind kind = Kind::kStop;
    std::vector<std::size_t> candidates = {};  // to try, all up to the same number of trials
    std::uint64_t trials = 0;                  // ... this one
    Stop why = Stop::kNot;
  };

  explicit Planner(Options options) : options_(options) {}

  // Candidates are numbered from 0. Those of a family are likely to be all true, or all false.
  std::size_t add(Promise promise, const std::string& family = {});
  // Something new is known about it: it is tried anew, as if it had not been.
  void renew(std::size_t candidate, Promise promise);
  // `trials` in all; `over`: more of them would tell nothing.
  void tried(std::size_t candidate, std::uint64_t trials, bool over);
  // The program was recorded, the first time included; `took` with the analysis.
  void recorded(std::uint64_t new_pairs, std::chrono::milliseconds took);

  Step next(std::chrono::milliseconds elapsed) const;

  std::uint64_t recordings() const { return recordings_; }
  std::uint64_t dry() const { return dry_; }  // recordings in a row without news
  std::uint64_t dry_limit() const;            // ... that end recording

 private:
  struct Candidate {
    Promise promise;
    std::size_t older = 0;  // of its family
    std::uint64_t trials = 0;
    std::size_t turn = 0;  // the next one
    bool over = false;
  };
  std::uint64_t trials_of(std::size_t turn) const;
  std::vector<std::size_t> in_turn(std::size_t turn) const;
  Step turn_of(std::size_t turn, std::uint64_t runs) const;
  bool may_record(std::chrono::milliseconds elapsed) const;

  Options options_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::size_t> families_;  // how many there are
  std::uint64_t suspects_ = 0;                   // that have had their first turn
  std::uint64_t recordings_ = 0, dry_ = 0, at_last_news_ = 0, deeper_runs_ = 0;
  std::chrono::milliseconds longest_{0};  // recording
};

}  // namespace sooth
