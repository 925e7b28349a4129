// The calls of a deep program that lead into code that is not recorded, and what memory that code can get at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deep/program.h"
#include "race/witness.h"
#include "recipe/witness/value_witness.h"
#include "symbol/stateless_libraries.h"
#include "trace/tools/insert_calls.h"

namespace sooth {

// A call of something that is neither deep code nor one of the functions whose effects are events (threads, locks,
// memory, copies and strings), or that only write something out.
struct OpaqueCall {
  ThreadId thread{};
  const llvm::CallBase* at = nullptr;
  std::uint64_t object = 0;  // of `at`: a number from 1
  CallSpot begin;            // of the trace
  CallSpot end;              // behind the last event when it never returned
  bool returned = false;
  // What memory it may touch, sorted and disjoint: blocks and variables that a word of its arguments is an address in,
  // those that words in these lead to, and so on (recipe/opaque/reach_graph.h). Code that is not part of the C and C++
  // libraries, nor of others that keep nothing, also has a state of its own, everything that such code was given before, its own variables, and memory of
  // which nobody knows to what it belongs. Without what only this thread touches.
  std::vector<MemoryRange> reach;
};

// In the order in which they begin. The trace is a deep recording, well-formed, exact and with values: else
// there are none. Of threads that cannot be followed to the end, those in front of that. Costs what executing the
// recorded run costs.
// `stateless`: functions that keep nothing for a later call, beside those of the C and C++ libraries.
std::vector<OpaqueCall> find_opaque_calls(const DeepProgram& program, const TraceView& trace,
                                          const FunctionNames& stateless = {});

// What is called: the name of the function as the linker knows it, "inline assembly" or "a function pointer".
std::string callee_name(const llvm::CallBase& call);
// Where it stands in the source.
Site place_of(const OpaqueCall& call, const DeepProgram& program);

// Where they begin and end, as marks to put into the trace, without sites.
std::vector<CallMark> marks_of(const std::vector<OpaqueCall>& calls);

// A deep recording with its opaque calls put in, as far as they reach something.
class CallTrace {
 public:
  // What `trace` shows and the program must outlive it. `stateless` as for find_opaque_calls().
  CallTrace(const DeepProgram& program, const TraceView& trace, const FunctionNames& stateless = {});
  CallTrace(const CallTrace&) = delete;
  CallTrace& operator=(const CallTrace&) = delete;

  // The trace itself when there are no such calls.
  const TraceView& view() const { return view_; }
  // Of the events in view() those that were put in, begins and ends of calls, ascending.
  const std::vector<EventId>& put_in() const { return inserter_.put_in(); }
  EventId original(EventId id) const { return inserter_.original(id); }

  // A witness of the trace that was given, as one of view(), and back. The first has no calls in its order.
  ValueWitness renumbered(ValueWitness witness) const;
  ValueWitness original(ValueWitness witness) const;
  // A witness of view() without the events that were put in.
  ValueWitness without_calls(ValueWitness witness) const;

 private:
  void append(const Batch& batch);

  CallInserter inserter_;
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
  std::vector<DeepRecord> deep_;
  TraceView view_;
};

}  // namespace sooth
