// Follows one thread of a deep recording through its code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <llvm/ADT/DenseSet.h>

#include "race/range_map.h"
#include "recipe/execute/arithmetic.h"
#include "recipe/execute/branches.h"
#include "recipe/execute/byte_memory.h"
#include "recipe/execute/cases.h"
#include "recipe/execute/code.h"
#include "recipe/execute/sharing.h"
#include "recipe/execute/thread_trace.h"

namespace sooth {

class ThreadExecutor;
struct Overlay;  // recipe/detour/view.h

// What the executors of all threads share.
struct SharedExecution {
  CodeTable& code;
  const TraceIndex& index;
  const TraceView& trace;
  const Sharing& sharing;
  const RangeMap<bool>& reached;  // by calls of the trace that were not recorded
  const ExecuteOptions& options;
  SymbolicProgram& program;
  Cases* cases = nullptr;  // only for detours
  // What threads leave in memory that go ways of their own: those that are known, and those that are found.
  std::span<const std::shared_ptr<const Overlay>> overlays = {};
  std::vector<std::shared_ptr<const Overlay>> found_overlays = {};
  FlatMap<bool> computed = {};  // writes of threads that have been executed, whose values are no constants

  // Whether such a call may have touched one of the bytes: then they have their recorded values always.
  bool is_reached(std::uint64_t address, std::uint64_t size) const {
    bool any = false;
    reached.for_each(address, address + (std::max<std::uint64_t>(size, 1) - 1),
                     [&](std::uint64_t, std::uint64_t, const bool* there) { any = any || there != nullptr; });
    return any;
  }

  // A variable for what an access reads, and its value in the recorded run.
  ExprId new_variable(unsigned width, std::uint64_t recorded, std::uint64_t address) {
    program.recorded.push_back(recorded);
    if (cases != nullptr) {
      cases->add_variable(address, width / 8);
    }
    return program.expressions.variable(width);
  }
};

// Is told of each branch that a thread decides, and looks at what lies on the other side of it.
class UntakenSides {
 public:
  virtual ~UntakenSides() = default;
  // `value` decided for `outcome`, at `position` of the thread, behind so many conditions; `before` is the next event
  // of the trace.
  virtual void explore(const llvm::Instruction& branch, const Cell& value, std::uint32_t outcome,
                       std::uint32_t position, std::uint32_t conditions, EventIndex before) = 0;
  // The same of an access whose address depends on other threads, or of a call whose target does: what if it were
  // another one?
  virtual void explore_others(const llvm::Instruction& at, const Cell& value, std::uint32_t position,
                              std::uint32_t conditions, EventIndex before) = 0;
  // The thread has read what this variable stands for, with its event `e`; has written such bytes with it to memory that
  // others use, with or without values.
  virtual void saw(ExprId variable, EventIndex e) = 0;
  virtual void wrote(EventIndex e, std::uint64_t address, std::span<const Byte> bytes) = 0;
  // The thread is at `at`, and goes on as it did only if the condition holds.
  virtual void check(ExprId condition, const llvm::Instruction& at, std::uint32_t position, std::uint32_t conditions,
                     EventIndex before) = 0;
  // Without those of branches whose other side the thread took some other time.
  virtual std::vector<Detour> take() = 0;
  // The sides that were looked at, without those that the thread took some other time.
  virtual std::vector<UntakenSide> sides() = 0;
  // Where the thread leaves its recorded path when others have come further or less far.
  virtual std::vector<UntakenSide> left() = 0;
};
// Defined by recipe/detour/, which executes code with what is declared here. All must outlive it; `path` has executed
// everything in front of the branch when explore() is called.
std::unique_ptr<UntakenSides> explore_untaken_sides(SharedExecution& execution, const ThreadExecutor& path,
                                                    std::uint32_t thread);

// What one can know of a call without IR from the name of the function.
bool leaves_memory_alone(const llvm::CallBase& call);

// Each value that the thread computes is known from the records or follows from what is; in addition it has an
// expression when it depends on shared memory. The stack is on the heap: neither calls nor expressions recurse.
// Whenever records and code do not fit together the thread ends, with a sentence that says why.
class ThreadExecutor final : public ConditionSink {
 public:
  // `records` are those of the thread.
  ThreadExecutor(SharedExecution& execution, std::uint32_t thread, std::vector<DeepRecord> records);
  ~ThreadExecutor() override;

  SymbolicThread run();

  void hold(ExprId condition, PathCondition::Why why) override;
  bool is_held(ExprId condition) const override;

  // What explores other branches looks at.
  std::span<const CodeFrame> frames() const { return frames_; }
  const Cell* cells(const CodeFrame& frame) const { return cells_.data() + frame.base; }
  const ByteMemory& memory() const { return memory_; }
  bool has_executed(const llvm::BasicBlock& block) const { return executed_.contains(&block); }
  // Between the local variables that the thread has had so far.
  bool is_own_stack(std::uint64_t address) const { return stack_begin_ <= address && address < stack_end_; }

 private:
  // --- the streams ---
  const DeepRecord* peek() const { return next_record_ < records_.size() ? &records_[next_record_] : nullptr; }
  // The next record when it is of that kind and no access comes before it; nullptr: the thread has stopped.
  const DeepRecord* take(DeepKind kind);
  // So many words; false: stopped.
  bool take_words(std::size_t count, std::vector<std::uint64_t>& words);
  // The position in the thread of its next access, which is this one; nothing: stopped.
  bool expect_access(Op op, const Cell& address, std::uint64_t size);
  bool is_due(Op& op);
  // Goes on to `position`; what happened until then was done by code without IR.
  void pass_over(std::uint32_t position);
  // Goes on to `position`, over events that are no accesses.
  bool skip_to(std::uint32_t position);
  bool stop(std::string why);
  bool is_over() const { return next_record_ == records_.size() && next_ == events_.size(); }
  // Nothing is left, so the thread was cut off here; or something is left that does not fit.
  bool ran_out(const char* wanted);
  // Something is wanted that does not come, because a signal handler comes first: the step has to wait.
  bool is_interrupted(std::size_t record, std::uint32_t position) const;

  // --- control ---
  bool step();
  bool execute(const Step& step, Cell* result);
  void enter_block(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  bool branch(const llvm::BranchInst& branch);
  bool branch(const llvm::SwitchInst& branch);
  bool go(const llvm::Instruction& branch, const Cell& value, std::uint32_t outcome);
  bool land();

  // --- calls ---
  bool call(const llvm::CallBase& call, const Step& step, Cell* result);
  bool intrinsic(const llvm::CallBase& call, const Operands& operands, Cell* result);
  bool enter(const FunctionCode& code, const llvm::CallBase* call);
  bool give_arguments(const FunctionCode& code, const llvm::CallBase* call, std::uint32_t caller, std::uint32_t base);
  bool check_arguments(const FunctionCode& code, std::uint32_t base);
  bool leave(const llvm::ReturnInst& ret);
  bool without_ir();
  bool returned(const DeepRecord& record);
  void pin_call();
  void after_call();
  const llvm::CallBase* pending_call() const;
  bool is_target(const llvm::CallBase& call, const FunctionCode& code);

  // --- memory ---
  bool access(const llvm::Instruction& at, const Operands& operands, Cell* result);
  bool unseen(const llvm::Instruction& at, const Operands& operands, Cell* result);
  bool load(const llvm::Instruction& at, llvm::Type* type, const Cell& address, Op op, Cell* result);
  bool store(const llvm::Instruction& at, llvm::Type* type, const Cell& address, const Cell* value, Op op);
  bool rmw(const llvm::AtomicRMWInst& at, const Operands& operands, Cell* result);
  bool cmpxchg(const llvm::AtomicCmpXchgInst& at, const Operands& operands, Cell* result);
  // The address of an access, or the target of a call, is about to be pinned.
  void explore_others(const llvm::Instruction& at, const Cell& value);
  bool move_bytes(const llvm::CallBase& call, const Operands& operands);
  void add_initial(std::uint64_t address, std::span<Byte> bytes) const;
  void add_recorded(std::uint32_t position, std::span<Byte> bytes) const;
  void note_copied(std::uint32_t position, std::span<const Byte> bytes);
  bool range(Op op, std::uint64_t address, std::uint64_t size, bool& is_shared);
  bool read_access(const Layout& layout, Cell* result, ExprId& read);
  bool read_bytes(std::uint32_t position, std::uint64_t size, std::vector<Byte>& bytes);
  bool to_bytes(const Layout& layout, const Cell* value, std::vector<Byte>& bytes);
  void to_cells(const Layout& layout, std::span<const Byte> bytes, Cell* result);
  void write_bytes(std::uint32_t position, std::vector<Byte>& bytes, ExprId read);
  EventIndex event(std::uint32_t position) const { return events_[position]; }
  EventIndex next_event() const {
    return next_ < events_.size() ? event(next_) : static_cast<EventIndex>(x_.index.size());
  }

  SharedExecution& x_;
  ExprTable& table_;
  const std::uint32_t thread_;
  const std::span<const EventIndex> events_;
  const std::vector<DeepRecord> records_;
  std::vector<std::uint32_t> record_position_;  // parallel: how many events of the thread came before
  std::size_t next_record_ = 0;
  std::uint32_t next_ = 0;  // position of the next event
  bool is_stopped_ = false;
  std::uint64_t idle_ = 0;  // instructions since one of the two has moved on from what it was then
  std::size_t idle_record_ = 0;
  std::uint32_t idle_position_ = 0;

  Arithmetic arithmetic_;
  ByteMemory memory_;
  std::vector<CodeFrame> frames_;
  std::vector<Cell> cells_;
  std::vector<Cell> returned_;                                     // what the function returned that a passage led to
  const llvm::Instruction* at_ = nullptr;                          // what is being executed
  FlatMap<bool> held_;                                             // conditions, by expression
  std::uint64_t stack_begin_ = ~std::uint64_t{0}, stack_end_ = 0;  // where allocas were
  llvm::DenseSet<const llvm::BasicBlock*> executed_;               // only for detours
  std::unique_ptr<UntakenSides> detours_;
  SymbolicThread out_;
  std::vector<Byte> bytes_, held_bytes_;  // scratch, as what follows
  std::vector<std::uint64_t> words_;
  std::vector<Cell> phis_;
};

}  // namespace sooth
