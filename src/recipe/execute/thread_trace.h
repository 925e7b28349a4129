// What the threads of a deep recording computed, as expressions over the values that they read from each other: the SSA
// form of the trace (RECIPE, Section III.A), and what they would have done on branches that they did not take (Section
// IV).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/status.h"
#include "deep/program.h"
#include "predict/trace_index.h"
#include "smt/expr.h"
#include "trace/op.h"
#include "trace/tables.h"

namespace sooth {

// All positions are positions in TraceIndex::events_of(thread).
//
// *Shared* is a variable (TraceIndex::variables) that two threads touch and at least one of them writes; an access is shared
// when one of its variables is. All other memory is private: what a thread reads there follows from what it did before,
// and such accesses are not listed.

// A shared access whose value is an expression. A shared access that is not listed reads and writes what it did in the
// recorded run: what it reads must have the recorded value or, where the trace has no value, come from the very write
// it saw. That is so for code that is not deep, for values of more than 8 bytes, and for memory that is copied in bulk.
struct SymbolicAccess {
  EventIndex event = kNoEvent;
  ExprId read = kNoExpr;  // what it reads, 8 * size bits: a variable of its own; kNoExpr: reads nothing, or as recorded
  ExprId written = kNoExpr;  // what it writes, 8 * size bits; kNoExpr: writes nothing, or as recorded
};

// Holds in every reordering in which the thread executes its event at `position` or is about to.
//
// Conditions speak of what the thread has read in front of `position`, with one exception: those at the position of a
// compare-exchange speak of what it reads itself. Also when it is about to happen, that must be a value it can see
// then; for its outcome decides whether it writes.
struct PathCondition {
  enum class Why : std::uint8_t {
    kBranch,       // the outcome of a branch, switch, indirect call or compare-exchange
    kBasePointer,  // the address of an access (Section III.B)
    kOpaque,       // what code without IR was given
    kDivisor,      // what must not be zero
    kNotModelled,  // the operand of something that is done with recorded values only
  };
  std::uint32_t position = 0;
  ExprId holds = kNoExpr;
  Why why = Why::kBranch;
  std::optional<InstructionRef> at;
};

// A step that a thread would make on a branch that it did not take.
struct DetourStep {
  Op op = Op::kRead;  // an access; kAcquire and kRelease of mutexes
  MemoryOrder order = MemoryOrder::kNotAtomic;
  std::uint64_t object = 0;  // address or lock
  std::uint32_t size = 0;
  // What it reads: a variable of its own, unless earlier steps of the detour wrote the bytes; then the expression they
  // wrote.
  ExprId read = kNoExpr;
  ExprId written = kNoExpr;
  InstructionRef at;
  Site site;
  std::vector<ExprId> conditions;  // needed to get here from the step before: branches inside, addresses, divisors
  // In memory that was allocated more than once it is the block of this moment: the last one before that event.
  EventIndex when = kNoEvent;
  bool is_unnamed = false;  // of a library function: not told to others, and no access that could be next

  friend bool operator==(const DetourStep&, const DetourStep&) = default;
};

// One way on from the other side of a branch. Here the thread has executed its events in front of `position`; the first
// `conditions` of SymbolicThread::conditions hold (the branch's own and what follows it is not among them); and `taken`
// holds (always true of a compare-exchange that ends another way: conditions of its step say when). Steps on local
// variables that no other thread touches are left out. The steps are made one after the other and
// nothing of another thread comes between them, as far as the conditions of a step speak of what steps before it read.
struct Detour {
  std::uint32_t position = 0;
  std::uint32_t conditions = 0;
  InstructionRef branch;
  std::uint32_t outcome = 0;  // number of the successor
  ExprId taken = kNoExpr;
  std::vector<DetourStep> steps;  // not empty
  std::string stopped;            // why it ends: "post-dominator", "call of f", "second turn of a loop", ...
  // kNoEvent, or what it was found with: others have made their events in front of this one, and no more.
  EventIndex cut = kNoEvent;
};

// A side of a branch that the thread never took, though what decides it depends on other threads: how far it was
// followed. The way that came furthest, of all instances of the branch.
struct UntakenSide {
  InstructionRef branch;
  std::uint32_t outcome = 0;
  Site site;                // of the branch
  std::uint32_t steps = 0;  // that the way has
  std::string stopped;      // as Detour::stopped
  Site stopped_at;
};
// What Detour::stopped says of ways that were followed to where both sides of the branch meet, or to the thread's end.
inline constexpr char kFollowedToTheEnd[] = "post-dominator";

// How much of the thread's computation the expressions cover. Instructions executed, each time they were.
struct Coverage {
  std::uint64_t instructions = 0;
  std::uint64_t symbolic = 0;     // of those: with an expression as result
  std::uint64_t concretised = 0;  // of those: that pinned an operand to its recorded value
  std::uint64_t opaque_calls = 0;
};

struct SymbolicThread {
  std::uint32_t thread = 0;
  // Events at positions >= end happen only if everything that the thread reads in front of them has its recorded value:
  // what it does then is not known from its IR. As many as there are events when all of it was followed, 0 when there
  // is no IR.
  std::uint32_t end = 0;
  std::string why_ended;                  // "" when all was followed
  std::vector<SymbolicAccess> accesses;   // by position
  std::vector<PathCondition> conditions;  // in program order; trivial ones are left out
  std::vector<EventIndex> plain_writes;   // to private memory, of what does not depend on anything; ascending
  std::vector<Detour> detours;            // by position
  std::vector<UntakenSide> untaken;       // by branch and outcome
  // The same of where it leaves its recorded path when others have come further or less far than they had; by what it
  // leaves it at, which need not be a branch.
  std::vector<UntakenSide> left;
  Coverage coverage;
};

struct SymbolicProgram {
  ExprTable expressions;
  std::vector<std::uint64_t> recorded;  // of each variable, by number; 0 of those that steps of detours read
  std::vector<SymbolicThread> threads;  // by thread
  // By event: what copies and fills have written, where the trace does not say it and it does not depend on anything.
  FlatMap<std::vector<std::uint8_t>> copied;
};

struct ExecuteOptions {
  bool detours = true;
  // Of one static branch and outcome, in one thread, so many instances are tried: the first ones and the last ones.
  std::uint32_t instances = 8;
  std::uint32_t paths = 8;            // of one detour, through branches inside
  std::uint32_t steps = 64;           // of one path
  std::uint32_t instructions = 4096;  // of one path
  // Of one path, behind the place where both sides of the branch meet: code that the thread has not executed may come there, too.
  std::uint32_t beyond = 400;
  std::uint32_t call_depth = 8;  // of calls entered on a detour
  // Of a loop on one path, in which branches could go another way with other values; and without such branches.
  std::uint32_t turns = 12;
  std::uint32_t plain_turns = 256;
  // Of one path that leaves the recorded one because others have come further or less far.
  std::uint32_t view_steps = 400;
  std::uint32_t view_instructions = 1 << 16;
  std::uint32_t view_call_depth = 64;
  // What is in memory before anybody writes there; nothing: not known.
  std::function<std::optional<std::uint8_t>(std::uint64_t address)> initial = {};
};

// Follows each thread of the trace through its IR. With all variables at their recorded values every PathCondition is
// true and every `written` is the recorded value. A thread whose records and IR do not fit together ends there
// (why_ended); errors are for traces that cannot be followed at all: not exact, without values. Time is linear in the
// instructions executed, and in the limits for detours.
Result<SymbolicProgram> execute_symbolically(const DeepProgram& program, const TraceIndex& index,
                                             const TraceView& trace, std::span<const DeepRecord> records,
                                             const ExecuteOptions& options);

}  // namespace sooth
