// The search of IPA: can two threads, each with its lock history, be at two given positions at the same time?
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "detect/ipa_history.h"

namespace sooth {

// What decides a state (a, b): a and b are the next steps of the two threads, (A, B) is the target. The rows of Table
// III in the order in which they are tried; docs/ipa.md says what each means and why it is right.
enum class IpaRule : std::uint8_t {
  kTerminal,  // TC: the target
  kHb1,       // a must come before b: a
  kHb2,       // ... b before a: b
  kHbFail,    // the one that must come first is blocked, or behind its target
  kLcc1,      // each waits for a lock that the other holds: a deadlock
  kLcc2,      // one waits for a lock that the other holds at its target
  kLcc3,      // a is at its target or blocked: b
  kLcc4,      // b is at its target or blocked: a
  kRc1,       // a acquires, b releases: b
  kRc2,       // a releases, b acquires: a
  kRc3,       // both release: both
  kRc4,       // tb does not need the lock of a any more: a
  kRc5,       // ta does not need the lock of b any more: b
  kRc6,       // ta keeps the lock of a to the end, and tb needs it before: b
  kRc7,       // tb keeps the lock of b to the end, and ta needs it before: a
  kBoth,      // none of these: b, then a
};
inline constexpr int kIpaRuleCount = 16;
std::string_view rule_name(IpaRule rule);

// The columns of Tables V and VI.
struct IpaCounts {
  std::uint64_t targets = 0;
  std::uint64_t potential = 0;  // moves in the whole lattices from the start to the targets
  std::uint64_t calls = 0;      // moves made: to states not visited before
  std::uint64_t both = 0;       // states of which both orders had to be tried
  std::uint64_t lcc = 0;        // states decided by LCC1 to LCC4
  std::uint64_t rc = 0;         // ... by RC1 to RC7

  void add(const IpaCounts& other);
};

// Two threads and where the search starts: a state that they can be in at the same time.
struct IpaStart {
  ThreadId ta{};
  ThreadId tb{};
  LockPosition a = 0;
  LockPosition b = 0;

  friend bool operator==(const IpaStart&, const IpaStart&) = default;
};

// The procedure do_search of IPA (Ganai, ASE 2011, Table III), as corrected in docs/ipa.md. It looks at locks and
// must-order only, and at no thread but these two. For a target that must-order leaves unordered, reach() is true
// exactly when some order of the steps leads there from the start.
//
// With leaps, a thread that nothing keeps from running makes many steps in one move: the states in between, in which
// the rules would say the same, are not visited. The answers are the same. Without them the search is that of the
// paper, move by move.
//
// Incremental: what was visited for one target is kept for the next, in whatever order targets come, and the histories
// may grow in between. A state remembers which moves were made from it; for a new target only those states are looked
// at again whose rule may now be another. Amortised over targets that share their histories the cost is close to linear
// in their length; the worst case is quadratic. Steps from the start on must not be forgotten by the histories.
class IpaSearch {
 public:
  enum class Moves : std::uint8_t { kSteps, kLeaps };
  IpaSearch(const LockHistories& histories, const IpaStart& start, Moves moves = Moves::kSteps)
      : histories_(histories), start_(start), moves_(moves) {}

  const IpaStart& start() const { return start_; }
  // Whether the threads can be at a and b at the same time. Neither lies before the start. Nothing, if it would take
  // more than `most` new states to tell; then the search must not be used any more.
  std::optional<bool> reach(LockPosition a, LockPosition b, std::size_t most);
  bool reach(LockPosition a, LockPosition b) { return *reach(a, b, std::numeric_limits<std::size_t>::max()); }
  // The moves from the start to a target that was reached: true for a step of ta.
  std::vector<bool> moves_to(LockPosition a, LockPosition b) const;

  // Pairs of acquires that wait for each other, met so far. Each once.
  std::span<const std::pair<LockPosition, LockPosition>> deadlocks() const { return deadlocks_; }
  const IpaCounts& counts() const { return counts_; }
  std::size_t state_count() const { return states_.size(); }

  // For tests: called whenever a rule has been applied to a state.
  struct Visit {
    LockPosition a;
    LockPosition b;
    IpaRule rule;

    friend bool operator==(const Visit&, const Visit&) = default;
  };
  void log_to(std::vector<Visit>* visits) { visits_ = visits; }

 private:
  // Moves from a state, as bits.
  static constexpr std::uint8_t kMoveA = 1;
  static constexpr std::uint8_t kMoveB = 2;
  static constexpr std::uint8_t kMoveBoth = 4;  // one call, as in RC3
  static constexpr std::uint8_t kAtA = 1;       // flags: a was the target when the rule was chosen
  static constexpr std::uint8_t kAtB = 2;
  static constexpr std::uint8_t kPending = 4;  // a success came before all moves were made
  static constexpr std::uint8_t kLeapt = 8;    // where to depends on the target

  struct State {
    LockPosition a = 0;
    LockPosition b = 0;
    std::uint32_t parent = 0;
    std::uint8_t made = 0;
    std::uint8_t flags = 0;
    IpaRule rule = IpaRule::kTerminal;
    LockPosition next = kNever;  // RC4 to RC7: the next acquire that the rule says is not, or is, before the target
    LockPosition checked = 0;    // RC4, RC5: while there is no next: so long was the history then
  };
  struct Target {
    LockPosition a;
    LockPosition b;
  };
  // One thread in a state with a target.
  struct Side {
    ThreadId thread;
    LockPosition at;
    LockPosition to;
  };

  IpaRule choose(State& state, const Target& target) const;
  IpaRule choose_between_acquires(State& state, const LockStep& a, const LockStep& b, const Target& target) const;
  bool blocked(const LockStep& step, LockSetId held) const;
  // The rule of the state may ask for a move that was not made.
  bool stale(State& state, const Target& target) const;
  bool grown_past(State& state, bool of_ta, LockPosition target) const;
  bool settled(const State& state) const;

  // How far `mover` can run while `other` stays, such that no order that leads to the target is lost.
  LockPosition leap(const Side& mover, const Side& other) const;

  // Ends early when there are more than `most_states`.
  bool explore(std::uint32_t root, const Target& target, std::size_t most_states);
  // Makes a move from the state that the rules ask for; the index of a state not visited before, or kVisited.
  std::uint32_t move_on(std::uint32_t index, const Target& target);
  std::uint32_t try_to_leap(std::uint32_t index, const Target& target);
  static std::uint8_t moves_of(IpaRule rule);
  std::uint32_t visit(std::uint32_t from, LockPosition a, LockPosition b);
  void count(IpaRule rule);

  static constexpr std::uint32_t kVisited = 0xffffffff;
  static constexpr std::uint32_t kNoLeap = 0xfffffffe;
  static constexpr LockPosition kLookAhead = 32;  // steps of the thread that stays
  static std::uint64_t key(LockPosition a, LockPosition b) { return std::uint64_t{a} << 32 | b; }

  const LockHistories& histories_;
  const IpaStart start_;
  const Moves moves_;
  std::vector<State> states_;        // in order of discovery
  FlatMap<std::uint32_t> visited_;   // key -> into states_
  std::vector<std::uint32_t> open_;  // incpairs: states whose rule depends on the target
  FlatMap<bool> failed_;             // targets that cannot be reached
  std::vector<std::uint32_t> stack_;
  std::vector<std::pair<LockPosition, LockPosition>> deadlocks_;
  IpaCounts counts_;
  std::vector<Visit>* visits_ = nullptr;
};

}  // namespace sooth
