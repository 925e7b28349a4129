// How a controlled run ended, and whether that is a failure that other runs do not have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launch/controlled_run.h"

namespace sooth {

struct Outcome {
  enum class Kind : std::uint8_t {
    kExited,      // `number` is the status
    kKilled,      // by the signal `number`
    kDeadlocked,  // every thread of a process waited for another
    kHung,        // still running when its time was over
  };
  Kind kind = Kind::kExited;
  int number = 0;
  bool complained = false;  // the run printed what a failed assertion, the C++ run time, glibc or a sanitizer prints
  std::string
      last_words;  // that complaint, or of a run that failed otherwise the last line of its errors; one line, may be empty

  std::string difference =
      {};  // difference_of() to what runs print with the other order of a race; empty: not compared

  // Whether something went wrong at all: anything but an exit with status 0 and without complaint.
  bool failed() const { return kind != Kind::kExited || number != 0 || complained; }
  // Whether both ended in the same way. What they printed plays no part.
  bool same_end(const Outcome& other) const {
    return kind == other.kind && number == other.number && complained == other.complained;
  }
  // "killed by signal 6 (Aborted) after "a.cc:3: f: Assertion `x' failed."", "exit status 3", "a deadlock", "a hang".
  std::string describe() const;
};

Outcome classify(const RunOutcome& run);

// The process of which every thread waited for another: the first or one that it forked. nullptr: there was none.
const ProcessLog* deadlocked_process(const RunLog& log);

// Nanoseconds for which a busy machine may keep a thread from running.
inline constexpr std::uint64_t kUsualDelay = 100'000'000;
// A deadline came although a thread could run that would have had more time than that: what a run does then is rarely
// seen.
bool was_delayed(const RunLog& log);
// A wait for a condition ended although nobody notified (control::kSpuriousWakes). Then was_delayed(), too.
bool was_woken_for_no_reason(const RunLog& log);

// The line of `errors` (standard error of a run, or its end) in which a failed assertion, std::terminate, a check of
// glibc or a sanitizer says what is wrong; with what() of an exception behind it. Empty when there is none.
std::string complaint_in(std::string_view errors);

// The probability that of `failures` failures among `runs` + `other_runs` runs so many or more fall on the former, if
// both were equally likely to fail: Fisher's exact test, one-sided. Small: the former fail more often.
double chance_of(std::uint64_t failures, std::uint64_t runs, std::uint64_t other_failures, std::uint64_t other_runs);

// Below it chance is ruled out, once all runs were made.
inline constexpr double kSignificant = 0.05;
// The same while more runs may follow: who looks after each run, and stops when it suits, needs more.
inline constexpr double kClear = 0.001;

// What undirected runs do.
class Baseline {
 public:
  void add(Outcome outcome) { outcomes_.push_back(std::move(outcome)); }

  // Only the first so many count from here on: what is told of a finding must not depend on which were tried before it.
  void look_at(std::uint64_t runs) { looked_at_ = runs; }
  std::uint64_t made() const { return outcomes_.size(); }
  std::uint64_t runs() const { return std::min<std::uint64_t>(made(), looked_at_); }
  std::uint64_t ended_like(const Outcome& outcome) const;

 private:
  std::vector<Outcome> outcomes_;
  std::uint64_t looked_at_ = UINT64_MAX;
};

}  // namespace sooth
