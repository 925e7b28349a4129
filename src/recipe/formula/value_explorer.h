// Which accesses meet in some reordering of a tiny recording, found by executing all of them with values, byte by byte:
// what the formula is tested against. Exponential. Only tests link it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recipe/execute/thread_trace.h"
#include "recipe/witness/value_witness.h"
#include "trace/batch.h"
#include "trace/event.h"

namespace sooth {

// The recording, and what the explorer does not find out by itself.
struct ExplorerInput {
  std::span<const Event> events;
  std::span<const Value> values;
  const SymbolicProgram* program = nullptr;
  std::vector<std::vector<std::size_t>> before;  // by event: those of other threads that must come first
  std::function<std::uint32_t(std::size_t event, std::uint64_t byte)> generation;
  std::map<std::uint64_t, std::uint8_t> initial;  // contents before the first event that are known
  std::size_t past = 0;                           // so many events have happened as recorded
};

class ValueExplorer {
 public:
  explicit ValueExplorer(const ExplorerInput& input);

  // What is next in a thread: an event, or a step of the detour that the thread takes in this exploration.
  struct Next {
    std::size_t thread = 0;
    std::size_t position = 0;  // behind the events of the thread: steps of the detour
    friend auto operator<=>(const Next&, const Next&) = default;
  };
  struct Exploration {
    std::set<std::pair<Next, Next>> met;  // of pairs of threads, the lower first; conflicting or not
    bool complete = true;
  };
  // By thread the detour that it takes; nullopt: it goes on as recorded, and none is taken.
  using Detours = std::vector<std::optional<std::size_t>>;
  Exploration explore(const Detours& detours, std::size_t max_states);

  // Empty, or why the witness does not lead to what it claims.
  std::string follow(const ValueWitness& witness, const Detours& detours);

 private:
  struct Cell {
    int writer = -1;             // event, or events + number of a step; -1: none
    int value = -1;              // -1: nobody knows
    std::uint8_t strangers = 0;  // bits of threads that wrote here on a detour
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct Lock {
    std::size_t thread;
    std::uint64_t object;
    bool shared;
    int depth;
  };
  struct State {
    std::vector<std::size_t> done;  // by thread; steps of detours count on
    std::vector<Cell> cells;
    std::vector<std::uint64_t> variables;
    std::vector<Lock> locks;
    std::vector<std::vector<std::size_t>> vigils;  // by thread: notifies since its latest release that nobody took
  };
  using Byte = std::pair<std::uint64_t, std::uint32_t>;  // address, generation

  std::size_t cell(const Byte& byte);
  std::vector<std::size_t> cells_of(std::size_t event);
  std::vector<std::size_t> cells_of(const DetourStep& step);
  void record();
  State start() const;
  std::string key(const State& state) const;
  void visit(const State& state, std::size_t max_states, Exploration& result);

  const SymbolicThread& symbolic(std::size_t thread) const { return input_.program->threads[thread]; }
  std::size_t event_count(std::size_t thread) const;  // that it executes before its detour
  const Detour* detour(std::size_t thread) const;
  // Nothing: there is no next, or the thread cannot come to it.
  std::optional<State> after(const State& state, std::size_t thread);
  std::optional<State> after_event(const State& state, std::size_t thread);
  std::optional<State> after_step(const State& state, std::size_t thread);
  bool is_next(const State& state, std::size_t thread);
  bool is_ready(const State& state, std::size_t thread) const;
  bool holds(const State& state, ExprId condition) const;
  bool keeps_conditions(const State& state, std::size_t thread, std::size_t position) const;
  bool keeps_end(const State& state, std::size_t thread, std::size_t position) const;
  bool may_detour(const State& state, std::size_t thread) const;
  bool lock(State& state, std::size_t thread, const Op op, std::uint64_t object, bool shared, bool strict) const;
  // Somebody holds the lock, in a mode that excludes that of the failed acquire.
  static bool is_taken(const State& state, const Event& failed);
  // What releases and notifies change. False: the wait, which took a notify when it was recorded, finds none.
  bool pass_condition(State& state, std::size_t event) const;
  int left_before(int writer, std::uint64_t byte) const;  // in the recorded run
  bool read_event(State& state, std::size_t event);
  void write_event(State& state, std::size_t event);
  int recorded(std::size_t event, std::size_t i) const;  // byte i; -1: not recorded
  const SymbolicAccess* listed(std::size_t event) const;

  const ExplorerInput& input_;
  std::vector<std::vector<std::size_t>> threads_;  // their events
  std::vector<std::size_t> position_;              // by event
  std::map<Byte, std::size_t> cells_;
  std::map<std::uint64_t, std::uint32_t> some_generation_;  // of bytes that events touch
  std::vector<bool> shared_;                                // by cell
  std::vector<bool> found_taken_;                           // by event: a failed acquire that the recorded run explains
  std::vector<bool> woken_;                                 // by event: a condition wait that took a notify
  std::vector<Cell> first_;                                 // before all events
  std::vector<std::vector<int>> saw_;                       // by event and byte: the writer
  std::vector<std::vector<int>> left_;                      // by event and byte: what it left; -1: nobody knows
  Detours detours_;
  std::unordered_set<std::string> visited_;
};

}  // namespace sooth
