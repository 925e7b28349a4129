// What a controlled run left in its log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/protocol.h"

namespace sooth {

// One thread in front of its access.
struct RacingThread {
  std::uint32_t thread = 0;
  std::uint64_t offset = 0;  // of the program counter in its module
  std::uint32_t range = 0;   // index of the SiteRange in the control file
  // Of the bytes in the file of the program, if they are in one of its variables.
  std::optional<std::uint32_t> variable;
  std::uint32_t bytes = 0;
  std::uint32_t kinds = 0;  // control::kReads, ...
  bool first = false;       // was let go first
};

// The race was created: `here` came to its access while the others were postponed in front of theirs.
struct CreatedRace {
  std::uint64_t stretch = 0;  // stretches of the process before it
  RacingThread here;
  std::vector<RacingThread> others;
  std::uint64_t delay = 0;  // ProcessLog::longest_delay until then
};

// An instruction of a module.
struct LoggedPlace {
  std::string module;  // path; empty: the program itself
  std::uint64_t offset = 0;

  friend bool operator==(const LoggedPlace&, const LoggedPlace&) = default;
};

struct BlockedThread {
  std::uint32_t thread = 0;
  control::BlockedOn on = control::BlockedOn::kUnknown;
  std::uint32_t holder = control::kNone;
  std::uint64_t offset = 0;             // of the program counter in its module
  bool in_program = true;               // that is the program itself, not a library
  std::vector<LoggedPlace> stack = {};  // the whole of it, innermost first; empty: unknown
  // Where in the file of the program what it waits for is, if that is in one of its variables.
  std::optional<std::uint32_t> variable = {};
};

// A fault, or an abort().
struct CrashedThread {
  std::uint32_t thread = 0;
  int signal = 0;
  std::uint64_t offset = 0;  // of the program counter in its module; 0: unknown
  bool in_program = true;
  std::vector<LoggedPlace> stack = {};
};

struct Diverged {
  std::uint32_t thread = 0;
  std::uint64_t stretch = 0;
  control::Divergence what{};
  std::uint64_t found = 0;
};

// A notification of one, for which several waited: control::WakeChoice.
struct Woken {
  control::WakeChoice choice{};
  std::uint64_t waited = 0;  // how many

  friend bool operator==(const Woken& a, const Woken& b) {
    return a.choice.thread == b.choice.thread && a.choice.number == b.choice.number &&
           a.choice.place == b.choice.place && a.waited == b.waited;
  }
};

// An atomic operation that saw, or left behind, something else than the newest.
struct OlderSeen {
  control::MemoryChoice choice{};
  std::uint32_t thread = 0;
  Op op = Op::kAtomicLoad;
  std::uint64_t offset = 0;  // of the program counter in its module
  std::optional<std::uint32_t> variable;
  // A store at the location: what was read, or what a store was put in front of.
  struct Store {
    std::uint64_t value = 0;
    std::uint32_t thread = 0;
    std::uint32_t number = 0;  // from 1 in the order in which they were made; 0: what was there at first
    std::uint64_t offset = 0;
  };
  Store seen, newest;
};

// Operations and accesses at sites that a thread came to.
struct CountedThread {
  std::uint32_t thread = 0;
  std::uint32_t number = 0;  // in the order of creation
  std::uint64_t events = 0;
};

// control::RecordKind::kOrder.
struct SeenOrder {
  std::uint64_t first = 0, second = 0;
  std::uint64_t writes = 0;

  friend auto operator<=>(const SeenOrder&, const SeenOrder&) = default;
};

// The same with whose the two were.
struct OrderOfThreads : SeenOrder {
  std::uint32_t first_thread = 0, second_thread = 0;
};

struct ProcessLog {
  std::vector<control::ThreadOrigin> threads;
  std::vector<control::Stretch> stretches;
  std::vector<CreatedRace> races;
  std::vector<BlockedThread> deadlock;  // empty: there was none
  std::vector<BlockedThread> stopped;   // where threads were when a run that did not end was asked
  std::optional<CrashedThread> crash;
  std::vector<Diverged> divergences;
  std::vector<Woken> woken;
  std::vector<CountedThread> counts;
  std::vector<OrderOfThreads> orders;      // of different ones
  std::vector<OrderOfThreads> own_orders;  // of one
  std::vector<OlderSeen> older;
  std::map<std::uint32_t, std::string> modules;  // paths by the numbers in `points`; the program's own is empty
  std::uint64_t let_go = 0, impatient = 0, turns_taken = 0, spins = 0;  // interventions
  std::uint64_t longest_delay = 0;  // nanoseconds of virtual time by which a deadline fired before others had run
  std::uint64_t external = 0;       // things from outside that took part: > 0: the seed alone may not repeat the run
};

// Of these, for RunPlan::older.
std::vector<control::MemoryChoice> older_choices(const ProcessLog& process);

struct RunLog {
  control::RunState state = control::RunState::kNotStarted;
  std::uint64_t hook_calls = 0;
  std::uint64_t scheduling_points = 0;
  std::uint64_t order_hash = 0;       // as in the header
  bool truncated = false;             // the log was full: what came later is not in it
  std::vector<ProcessLog> processes;  // at least one when something started
  // kPoint, kStep, kStepAt, kEarly and kModule records of the first process, in order.
  std::vector<control::LogRecord> points;
};

// `bytes`: the header and at least the records that it counts, up to its capacity. Any bytes may be thrown at it. The
// error says what is wrong. A race of which only one side was written, because the process died, is left out.
Result<RunLog> parse_run_log(const std::string& bytes);

}  // namespace sooth
