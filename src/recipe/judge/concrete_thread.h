// Executes the IR of one thread of a deep recording, step by step, on concrete values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/BasicBlock.h>

#include "deep/program.h"
#include "race/witness.h"
#include "recipe/judge/concrete_ops.h"
#include "recipe/judge/concrete_value.h"
#include "recipe/judge/library_model.h"
#include "recipe/judge/run_observer.h"

namespace llvm {
class CallBase;
class CallInst;
class MemIntrinsic;
}  // namespace llvm

namespace sooth {

// What one thread left in a recording, in program order: a record belongs before the thread's first event whose id is
// not less than its `before`.
struct ThreadTape {
  std::vector<std::uint32_t> events;   // ids
  std::vector<std::uint32_t> records;  // indices of TraceView::deep
};

// By thread. Events and records of absurd thread numbers make an absurdly long vector: of well-formed traces only.
std::vector<ThreadTape> make_tapes(const TraceView& trace);

// What a thread gave to code that is not recorded, and what it wrote where the trace has no value: noted when the
// recorded run is executed again, compared in every other run.
using CallLog = std::vector<Scalar>;

// The next step of a thread that others can see, or why there is none.
struct ConcreteStep {
  enum class Kind : std::uint8_t {
    kAccess,  // load, store, atomic, one half of a copy
    kFence,
    kForeign,  // an event of code that is not deep
    kAcquire,  // of a mutex, beside the recorded path
    kRelease,
    kEnd,    // no more events on the tape
    kStuck,  // cannot be executed, or leaves the recorded path: `why`
  };
  Kind kind = Kind::kStuck;
  Op op = Op::kRead;
  std::optional<std::uint64_t> address;  // nothing: not known
  std::uint64_t size = 0;
  const llvm::Instruction* at = nullptr;
  std::string why;
};

// On its tape the thread follows the recorded path: where something is not what it was in the recorded run, though it
// has to be (the outcome of a branch, the arguments of a call that is not followed), it is stuck. It may be allowed to
// leave the tape at a branch that goes another way; beside it, it goes where values lead.
//
// It touches no memory itself. Use: next(), and as long as that is an access: take_event() when it is on the tape,
// finish().
class ConcreteThread {
 public:
  // All must outlive it. `recording`: this is the recorded run, and `log` is written; else it is read.
  ConcreteThread(const DeepProgram& program, ConcreteOps& ops, const TraceView& trace, const ThreadTape& tape,
                 CallLog& log, bool recording);

  // Whether everything that the thread has read is what it read in the recorded run. Then what is not modelled has the
  // recorded outcome as well.
  void set_trusted(bool trusted) { trusted_ = trusted; }
  bool is_trusted() const { return trusted_; }
  void allow_leaving();
  // Asked before a call of code that is not recorded and may look around in memory, when the thread is not trusted.
  // `pointers` are its arguments that are addresses. What it returns is why the call cannot be made; empty: it can.
  using MemoryGuard = std::function<std::string(const std::vector<std::uint64_t>& pointers)>;
  void set_memory_guard(MemoryGuard guard) { memory_guard_ = std::move(guard); }
  // How many bytes the block has that begins at the address; nothing: there is none. For what frees it beside the tape.
  using BlockSize = std::function<std::optional<std::uint64_t>(std::uint64_t address)>;
  void set_block_size(BlockSize block_size) { block_size_ = std::move(block_size); }
  // The step, which is the next one, would find this: a compare-exchange that ends another way then leaves the tape, if
  // it may.
  void leave_by_outcome(const ConcreteStep& step, std::span<const ConcreteByte> read);
  // Of the recorded run only; must outlive it.
  void set_observer(RunObserver* observer) { observer_ = observer; }
  // The branch at which it has left the tape; nullptr: it has not.
  const llvm::Instruction* left_at() const { return left_at_; }

  // Position in the tape's events.
  std::size_t position() const { return next_event_; }
  std::size_t log_position() const { return log_position_; }

  // Executes what concerns nobody else. The same again until the step is finished.
  const ConcreteStep& next();
  // The event of the tape is the one that is happening. Events that no instruction stands for need nothing else:
  // is_passive().
  void take_event() { ++next_event_; }
  static bool is_passive(Op op);
  // After take_event() of a read without a value: the words that the record has instead.
  std::optional<ConcreteBytes> take_words(std::uint64_t bytes);
  // What the access is that was `recorded` so, when it reads this: a compare-exchange is an rmw, or a load when it
  // fails; others are what they were. Nothing: not known.
  std::optional<Op> outcome(const ConcreteStep& step, std::span<const ConcreteByte> read, Op recorded);
  // Whether an event can be this step: optimisers turn an rmw whose result nobody needs into a store, and one that
  // changes nothing into a load.
  static bool may_be(const ConcreteStep& step, Op op) {
    return step.op == op || (step.op == Op::kAtomicRmw && is_atomic(op));
  }
  struct Written {
    ConcreteBytes bytes;
    bool as_recorded = false;  // of what the trace has no value: whether it is what it was in the recorded run
  };
  // The access has happened, as `done`; `read` is what it has read. What it writes.
  std::optional<Written> finish(std::span<const ConcreteByte> read, Op done);
  // A foreign event, a fence, or a lock has happened.
  void finish();

  std::string place_text(const llvm::Instruction& at) const;

 private:
  enum class Entry : std::uint8_t { kFollowed, kDirect, kForeign };  // who gets what the function returns
  struct Frame {
    std::uint32_t module = 0;
    const llvm::Function* function = nullptr;
    Entry entry = Entry::kForeign;
    llvm::BasicBlock::const_iterator at;
    llvm::DenseMap<const llvm::Value*, Concrete> values;
    const llvm::CallBase* calls = nullptr;  // the call that it is in
    bool open = false;                      // which is not followed, and ends with a record
    bool unwinding = false;                 // an exception leaves it
    std::optional<Concrete> direct_result;  // what the called function itself returned
    std::optional<std::uint64_t> length;    // of the copy that it is in
    std::optional<ConcreteBytes> copied;    // what that has read, before it writes
    std::optional<LibraryCall> library;     // the call of a library function that it is in, beside the path
    std::vector<std::uint8_t> library_saw;  // what that has read so far
    std::size_t library_wrote = 0;          // how many of its writes are done
    bool stores_vtable = false;             // the record says that the store at hand is one
    std::vector<std::uint64_t> further;     // arguments behind those that the function names; for the observer
  };
  using Step = std::optional<ConcreteStep>;

  // concrete_thread.cc
  Step advance();
  Step code_step();
  Step compute(const llvm::Instruction& at);
  Step access(const llvm::Instruction& at);
  Step branch(const llvm::Instruction& at);
  void leave_elsewhere(const ConcreteStep& step);
  Step access_outside_tape(const llvm::Instruction& at, const TypeShape& shape, Op op);
  Step store_vtable(const llvm::Instruction& at);
  Step fence(const llvm::Instruction& at);
  Step take_address(const llvm::Instruction& at);
  std::optional<Step> interruption();
  Step go_to(const llvm::BasicBlock& to);
  std::optional<std::uint32_t> successor(const llvm::Instruction& branch);
  Written write(ConcreteBytes bytes);
  Written modify(const llvm::Instruction& at, std::span<const ConcreteByte> read);
  // concrete_calls.cc
  Step outside_step();
  Step call(const llvm::CallBase& call);
  Step intrinsic(const llvm::CallBase& call);
  Step copy(const llvm::MemIntrinsic& call);
  Step open_call(const llvm::CallBase& call);
  Step call_beside_tape(const llvm::CallBase& call);
  // What a function returns that only computes with real numbers; nothing: it is none of those.
  std::optional<Concrete> real_function(const llvm::CallBase& call);
  Step library_call(const llvm::CallBase& call, const llvm::Function& callee);
  std::optional<Written> finish_library_access(std::span<const ConcreteByte> read);
  Step enter(const DeepRecord& record, const llvm::CallBase* call, Entry entry);
  Step push(DeepProgram::Place place, const llvm::CallBase* call, Entry entry);
  Step leave(const llvm::Instruction& at);
  Step returned(const DeepRecord& record);
  Step finish_call(std::optional<Concrete> result);
  bool note_arguments(const llvm::CallBase& call, unsigned from);
  std::string ask_guard(const llvm::CallBase& call);
  void tell_call(const llvm::CallBase& call);
  void add_words(const llvm::CallBase& call, unsigned from, std::vector<std::uint64_t>& words);
  RunObserver::Position where() const;
  bool is_target(const llvm::CallBase& call, const llvm::Function& function);
  std::optional<DeepProgram::Place> target(const llvm::CallBase& call);
  std::optional<DeepProgram::Place> definition(const llvm::Function& function);
  std::optional<Concrete> take_value(llvm::Type* type, std::uint32_t module, std::optional<std::uint64_t> first);

  // concrete_unwind.cc
  struct Exception {
    std::uint64_t object = 0;
    std::string type;  // as ExceptionTypes has it
    const llvm::Function* destructor = nullptr;
    bool goes_on = false;  // it was thrown again
  };
  Step landed(const DeepRecord& record);
  Step number_of_type(const llvm::CallBase& call);
  std::optional<Step> exception_call(const llvm::CallBase& call, llvm::StringRef name);
  const Exception* thrown(std::uint64_t object) const;
  Step raise(const Exception& exception, const llvm::CallBase& at);
  Step unwind(const Exception& exception);
  Step resume(const llvm::Instruction& at);
  Step end_catch(const llvm::CallBase& call);

  bool trusted() const { return trusted_ && left_at_ == nullptr; }
  const Concrete* operand(const llvm::Value* value);
  std::optional<std::uint64_t> number(const llvm::Value* value);
  void define(const llvm::Instruction& at, Concrete value);
  bool note(const Concrete& value);  // false: in the recorded run it was another one
  const Event* upcoming();
  const DeepRecord* due_record();
  const DeepRecord* take_record(DeepKind kind);
  ConcreteStep stuck(std::string why) const;

  const DeepProgram& program_;
  ConcreteOps& ops_;
  const TraceView& trace_;
  const ThreadTape& tape_;
  CallLog& log_;
  const bool recording_;
  bool trusted_ = true;
  bool may_leave_ = false;
  const llvm::Instruction* left_at_ = nullptr;
  std::size_t next_event_ = 0;
  std::size_t next_record_ = 0;
  std::size_t upcoming_ = 0;  // first event at or behind next_event_ that is not passive
  std::size_t log_position_ = 0;
  std::uint64_t spent_ = 0;  // instructions since something was taken from the tape
  std::vector<Frame> frames_;
  std::uint32_t fresh_blocks_ = 0;     // allocated beside the tape
  std::vector<Exception> exceptions_;  // that were thrown beside the tape
  std::vector<Exception> caught_;      // whose handlers are not over, the innermost last
  std::optional<ConcreteStep> step_;
  MemoryGuard memory_guard_;
  BlockSize block_size_;
  RunObserver* observer_ = nullptr;
};

}  // namespace sooth
