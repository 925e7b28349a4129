// The judge of value witnesses: it lets the program run along the witness, on concrete values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "deep/program.h"
#include "race/witness.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

class RecordedRun;

// Shares no code with symbolic execution or with the formula (src/recipe/execute*, formula*): instructions compute with
// llvm::APInt and llvm::APFloat, memory is bytes, and must-order, locks and call order are those of the checker of
// plain witnesses (race/witness.h).
//
// Every event of the witness must be the next of its thread, keep must-order and call order, and respect locks. Threads
// with deep code execute it: loads read what is in memory then, stores write what was computed; every access must be
// the recorded one (operation, address, size), every branch go the recorded way until the thread leaves its path where
// the witness says so, and everything that is not executed (calls of code that is not deep, what callbacks return to
// it) must get what it got in the recorded run. Events of other code, and of code that cannot be executed, must read
// what they read. Bytes that nobody has written hold what the recorded run first read there, else what the program's
// file says; on what nobody knows nothing may depend.
//
// Steps beside the recorded path are executed as well, also those on private memory that the witness does not name; the
// named ones must come in its order. Last, the two accesses must be what their threads do next, and conflict.
//
// Made once for a trace, which is well-formed, exact, with values, and of less than 2^32 - 1 events. check() may be
// called from several threads; each call costs time and memory linear in the trace up to the last event that the
// witness names and in the instructions executed.
class ValueJudge {
 public:
  // What the view shows, and the program, must outlive the judge. Refuses what cannot be judged. `unnamed` are events
  // that witnesses do not name, ascending: begins and ends of calls that were put into the trace. They happen when what
  // stands behind them in their thread, or what must come after them, is about to happen.
  static Result<ValueJudge> make(const DeepProgram& program, const TraceView& trace,
                                 std::span<const EventId> unnamed = {});

  ValueJudge(ValueJudge&&) noexcept;
  ValueJudge& operator=(ValueJudge&&) noexcept;
  ~ValueJudge();

  // The error says what is wrong with the witness and names the event or the place of the program.
  Status check(const ValueWitness& witness) const;

  // How far the code of each thread explains its events.
  const RecordedRun& recorded_run() const { return *run_; }

 private:
  ValueJudge(std::unique_ptr<RecordedRun> run, std::span<const EventId> unnamed);

  std::unique_ptr<RecordedRun> run_;
  std::vector<EventId> unnamed_;
};

// One witness. `records` are the deep records of the trace, which the view need not show.
Status check_value_witness(const DeepProgram& program, const TraceView& trace, std::span<const DeepRecord> records,
                           const ValueWitness& witness);

}  // namespace sooth
