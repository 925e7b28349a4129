// For tests of the judge: tiny programs that can be written as IR, run under any schedule, and recorded as a deep
// recording would be. What a run is, is defined here a second time, by an interpreter of the statements that knows
// nothing of IR.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deep/program.h"
#include "race/witness.h"
#include "recipe/witness/value_witness.h"
#include "trace/memory_trace.h"

namespace sooth::mini {

struct Statement {
  enum class Kind : std::uint8_t {
    kLoad,     // target = variable
    kStore,    // variable = source, or `number` without a source
    kLoadAt,   // target = *source
    kCompute,  // target = source `operation` number
    kIf,       // if (source > number, signed) then; else otherwise
    kLock,     // of lock `variable`
    kUnlock,
    kPrint,  // hands source to code that is not recorded
  };
  Kind kind = Kind::kLoad;
  int target = -1;  // registers; those defined in a branch are not used behind it
  int source = -1;
  std::uint32_t variable = 0;
  std::int64_t number = 0;
  char operation = '+';  // + - * & ^
  std::vector<Statement> then = {};
  std::vector<Statement> otherwise = {};
  std::uint32_t instruction = 0;  // its number in the function; set by Program::finish
};

inline std::uint64_t address_of(std::uint32_t variable) { return 0x1000 + 16 * std::uint64_t{variable}; }
inline std::uint64_t address_of_lock(std::uint32_t lock) { return 0x8000 + 64 * std::uint64_t{lock}; }

// All variables have 8 bytes. Every thread runs its statements; nobody forks them.
struct Program {
  std::vector<std::int64_t> initial;  // by variable
  std::uint32_t locks = 0;
  std::vector<std::vector<Statement>> threads;

  // Numbers the instructions. Returns the IR: thread t is the function number t.
  DeepModuleText finish();
};

Statement load(int target, std::uint32_t variable);
Statement store(std::uint32_t variable, std::int64_t number);
Statement store_register(std::uint32_t variable, int source);
Statement load_at(int target, int source);
Statement compute(int target, int source, char operation, std::int64_t number);
Statement branch(int source, std::int64_t number, std::vector<Statement> then, std::vector<Statement> otherwise);
Statement lock(std::uint32_t lock);
Statement unlock(std::uint32_t lock);
Statement print(int source);

// What a thread does that others can see.
struct Action {
  Op op = Op::kRead;
  std::uint64_t object = 0;
  std::uint32_t instruction = 0;
};
// What it does otherwise and the record knows of: the outcome of a branch, or what is printed.
struct Local {
  bool is_branch = false;
  std::int64_t value = 0;
  std::uint32_t instruction = 0;

  friend bool operator==(const Local&, const Local&) = default;
};

class Machine {
 public:
  explicit Machine(const Program& program);

  // What the thread does next, after the local things, which are handed out once; nothing at its end.
  std::optional<Action> next(std::uint32_t thread, std::vector<Local>& locals);
  // Whether nothing blocks the next action.
  bool is_enabled(std::uint32_t thread) const;
  // What was read or written.
  std::int64_t perform(std::uint32_t thread);

 private:
  struct Thread {
    std::vector<std::pair<const std::vector<Statement>*, std::size_t>> stack;
    std::map<int, std::int64_t> registers;
    const Statement* at = nullptr;  // what next() has found
  };
  std::map<std::uint64_t, std::int64_t> memory_;
  std::map<std::uint64_t, std::uint32_t> holders_;  // by lock
  std::vector<Thread> threads_;
};

// A recorded run.
struct Recording {
  MemoryTrace trace;
  std::vector<std::vector<std::uint32_t>> events;                  // by thread
  std::vector<std::vector<std::pair<std::size_t, Local>>> locals;  // by thread: in front of which of its events

  TraceView view() const { return {trace.events, trace.values, {}, nullptr, {}, trace.deep}; }
};
// `choose(n)` picks one of n threads that can go on. Ends when none can.
Recording record(const Program& program, const std::function<std::size_t(std::size_t)>& choose);

// Whether the witness is what it says, by the definition: nothing, or what is wrong.
std::optional<std::string> refute(const Program& program, const Recording& recording, const ValueWitness& witness);

}  // namespace sooth::mini
