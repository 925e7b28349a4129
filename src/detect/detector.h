// A detector reads a trace once and says which site pairs can race.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "order/lock_set.h"
#include "race/atomicity.h"
#include "race/deadlock.h"
#include "race/misuse.h"
#include "race/pair_table.h"
#include "trace/batch.h"

namespace sooth {

// What a reported pair is worth without further proof.
enum class Guarantee : std::uint8_t {
  kSound,           // every pair is a race
  kSoundFirstOnly,  // the first pair shows that there is a race or a deadlock
  kHeuristic,       // any pair may be a false alarm
};
std::string_view guarantee_name(Guarantee guarantee);

// What users may choose about detectors. Each one takes what concerns it.
struct DetectorOptions {
  std::uint64_t window =
      2'000;  // events that an analysis which cannot look at a whole trace takes at a time; at least 1
  bool all_lock_orders = false;  // of deadlocks: also cycles that cannot happen, as ThreadSanitizer reports them
  // Whether a function, the object of kEnter and kExit, is meant to be one block (docs/semantics.md, section 17). None is,
  // without it.
  std::function<bool(SiteId)> is_atomic = nullptr;
  bool compare = false;  // measure also what an analysis avoids, for stats(); may cost several times as much
};

// To write one: a class in its own file, consume() switching over Op without a default, and one row in
// pipeline/registry.cc. Memory may grow with the state of the program (threads, locks, variables, sites), not
// with the length of the trace.
class Detector {
 public:
  virtual ~Detector() = default;

  virtual Guarantee guarantee() const = 0;
  // Batches come in trace order and from a well-formed trace (trace/check/validator.h), without gaps but for what
  // a filter has hidden (filter/filter.h): ids come from Batch::id().
  virtual void consume(const Batch& batch) = 0;
  // After the last batch.
  virtual void finish() {}
  // Called before the first batch: finds at the same sites are to be told apart by these, too. They live as long as this.
  virtual void tell_apart(VariableClasses* /*variables*/) {}
  // The distinct site pairs found so far.
  virtual const PairTable& races() const = 0;
  // The cycles found, one for each multiset of sites. After finish().
  virtual std::vector<DeadlockCandidate> deadlocks() const { return {}; }
  // Ways to some of the races, for whoever looks for witnesses. After finish().
  virtual std::vector<RacePlan> plans() const { return {}; }
  // The misuses seen, one for each kind and site, in order of the first.
  virtual std::vector<MisuseCandidate> misuses() const { return {}; }
  // Blocks that something came between, or could. After finish().
  virtual std::vector<AtomicityCandidate> atomicity() const { return {}; }
  // Resolves the lock sets of races(), deadlocks() and misuses().
  virtual const LockSetTable& lock_sets() const = 0;
  // Sentences about what was not looked at, for the report. After finish().
  virtual std::vector<std::string> notes() const { return {}; }
  // The analysis that this one finds the pairs of on its way (DetectorInfo::includes), so that it need not run itself:
  // what is returned is never fed, and must not be used longer than this. Called before the first batch.
  virtual std::unique_ptr<Detector> included() { return nullptr; }
  // Label and figure, for --stats.
  virtual std::vector<std::pair<std::string, std::string>> stats() const { return {}; }
};

}  // namespace sooth
