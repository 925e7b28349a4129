// One way through code that the thread did not execute.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "recipe/detour/detour.h"

namespace sooth {

// Local variables of functions that never ran are where no program has memory.
inline constexpr std::uint64_t kDetourLocals = std::uint64_t{1} << 60;
inline bool is_detour_local(std::uint64_t address) { return address >= kDetourLocals && address < 2 * kDetourLocals; }

// `stdout` and `stderr`, whose value nobody needs to know.
bool is_standard_file_variable(const llvm::Value* pointer);
// Nothing is below it, nor at or above the other one.
inline constexpr std::uint64_t kFirstAddress = 4096;
inline constexpr std::uint64_t kLastAddress = std::uint64_t{1} << 62;

// Values have expressions as on the recorded path. Their `bits` are what they would have been had the detour been taken
// when the branch was executed, in the recorded order of events: a guess, which decides which way is tried first, and
// what addresses are pinned to.
class DetourWalk final : public ConditionSink {
 public:
  // At the instruction that the thread is at, when these variables have other values than in the recorded run.
  DetourWalk(DetourExplorer& explorer, std::vector<std::pair<std::uint32_t, std::uint64_t>> assumed, EventIndex before);
  // The same, when others have come as far as the view says.
  DetourWalk(DetourExplorer& explorer, const View& view, EventIndex before);
  // The instruction is a branch, and leads there; its ways meet at `meet`.
  void start(const llvm::Instruction& branch, const llvm::BasicBlock& to, const llvm::BasicBlock* meet);

  // Goes on until it stops. Where it could go two ways, a copy that goes the other one is added to `open`.
  void run(std::vector<DetourWalk>& open);
  // What it had written at some points of its way: behind critical sections and atomic writes, and at its end.
  std::vector<FlatMap<WrittenByte>> take_marks();
  std::vector<DetourStep> take_steps() { return std::move(steps_); }
  std::uint32_t step_count() const { return static_cast<std::uint32_t>(steps_.size()); }
  const std::string& stopped() const { return stopped_; }
  // The instruction that is next; nullptr: none.
  const llvm::Instruction* at() const {
    return frames_.empty() ? nullptr : frames_.back().code->steps[frames_.back().pc].instruction;
  }
  // Blocks behind the place where the sides of the branch meet that the thread has not executed so far. If it executes
  // them later, only the first steps_to_keep() are of interest.
  std::vector<const llvm::BasicBlock*> take_news() { return std::move(news_); }
  std::size_t steps_to_keep() const { return steps_to_keep_; }

  void hold(ExprId condition, PathCondition::Why why) override;
  bool is_held(ExprId condition) const override;

 private:
  bool stop(std::string why);
  bool step(std::vector<DetourWalk>& open);
  bool execute(const Step& step, Cell* result, std::vector<DetourWalk>& open);
  bool branch(const llvm::Instruction& branch, const Cell& value, std::vector<DetourWalk>& open);
  bool enter_block(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  bool call(const llvm::CallBase& call, const Operands& operands, Cell* result);
  // detour_library.cc: what is known of functions without IR by their names.
  enum class Library : std::uint8_t {
    kDone,
    kStopped,
    kNotKnown,
    kGone,  // it is not what comes back: the walk stands elsewhere now
  };
  Library library(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result);
  Library lock(const llvm::CallBase& call, bool takes, Cell mutex, Cell* result);
  Library start_thread(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result);
  Library print(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result);
  Library allocate(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result);
  Library release(const llvm::CallBase& call, const Operands& operands);
  Library move(Cell to, Cell from, const Cell& size, const Cell* byte);
  Library copy_text(Cell to, const Cell& from, const Cell* size);
  Library text(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result);
  // detour_unwind.cc
  struct Thrown {
    std::uint64_t object = 0;
    std::string type;                            // its key
    const llvm::Function* destructor = nullptr;  // nullptr: there is nothing to be done
    bool is_rethrown = false;
  };
  Library exceptions(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result);
  Library end_catch(const llvm::CallBase& call);
  bool raise(const Thrown& exception);
  bool is_caught(const Thrown& exception) const;
  bool unwind(const Thrown& exception);
  bool land(Cell* result);
  bool resume(const Cell& object);
  // The number that a cell has, pinned to it; nothing: not known, and stopped.
  std::optional<std::uint64_t> number(const Cell& cell);
  // What memory holds whatever other threads do, or in the view; false: that depends on them, and stopped. With `decides`
  // also when it is not known what it is.
  bool quiet(std::uint64_t address, std::span<Byte> bytes, bool decides);
  bool look(std::uint64_t address, Byte& byte, bool decides);
  std::optional<std::string> quiet_text(std::uint64_t address, std::uint64_t longest, bool until_zero);
  // Nobody else looks there, and what is not known of it may stay so.
  bool write_quietly(std::uint64_t address, std::span<const Byte> bytes);
  bool enter(const FunctionCode& code, const llvm::CallBase& call, const Operands& operands);
  void push(const FunctionCode& code, std::span<const Cell> cells);
  bool leave(const llvm::ReturnInst& ret);
  bool descend();
  bool meet();
  void note(const llvm::BasicBlock& block);

  // With the value that it has when the variables have those that are assumed.
  Cell guessed(const Cell& cell) const;
  // Pins the address to what is guessed, which it has from then on; false: it is not known.
  bool place(Cell& address);
  bool load(const llvm::Instruction& at, llvm::Type* type, Cell address, Op op, MemoryOrder order, Cell* result);
  bool store(const llvm::Instruction& at, llvm::Type* type, Cell address, const Cell* value, Op op, MemoryOrder order);
  bool rmw(const llvm::Instruction& at, const Operands& operands, Cell* result);
  // What memory holds, and whether it takes a step to read it.
  bool read(std::uint64_t address, std::span<Byte> bytes, ExprId& variable, bool& is_step);
  bool load_constant(const llvm::Instruction& at, llvm::Type* type, std::uint64_t address, Cell* result);
  void to_cells(const Layout& layout, std::span<const Byte> bytes, Cell* result);
  bool to_bytes(const Layout& layout, const Cell* value, std::span<Byte> bytes);
  void write(std::uint64_t address, std::span<const Byte> bytes);
  bool is_private(std::uint64_t address, std::uint64_t size) const;
  bool add_step(const llvm::Instruction& at, Op op, MemoryOrder order, std::uint64_t object, std::uint32_t size,
                ExprId read, ExprId written, bool is_unnamed = false);

  // Values of what the path has computed, with what is assumed.
  void assume(std::span<Cell> cells) const;
  void assume(std::span<Byte> bytes) const;
  // What is in memory that others may write: a guess; nothing: there is none.
  std::optional<std::uint64_t> guess(std::uint64_t address, std::uint32_t size) const;
  bool has_view() const { return view_.has_value(); }
  void mark();

  DetourExplorer* explorer_;
  std::optional<View> view_;
  const llvm::BasicBlock* meet_ = nullptr;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> assumed_;  // values of variables
  EventIndex before_;
  Arithmetic arithmetic_;
  std::vector<CodeFrame> frames_;
  std::vector<std::uint32_t> serials_;  // of frames: those that have ended are not forgotten
  std::uint32_t next_serial_ = 0;
  std::vector<Cell> cells_;
  FlatMap<Byte> written_;  // by address
  FlatMap<bool> held_;
  std::vector<ExprId> pending_;  // conditions since the last step
  std::vector<DetourStep> steps_;
  std::vector<FlatMap<WrittenByte>> marks_;
  std::size_t steps_marked_ = 0;  // at the last mark
  struct Visits {
    std::uint32_t count = 0;    // with a choice between them
    std::uint32_t turns = 0;    // without
    std::uint32_t choices = 0;  // that had been made at the last one
  };
  std::map<std::pair<std::uint32_t, const llvm::BasicBlock*>, Visits> visits_;
  std::uint32_t choices_ = 0;  // branches that other values would decide another way
  std::uint32_t instructions_ = 0, last_instruction_;
  bool is_beyond_ = false;                     // behind the meeting point
  std::vector<const llvm::BasicBlock*> news_;  // blocks there that the thread has not executed so far
  std::size_t steps_to_keep_ = 0;              // without news
  std::uint64_t next_local_;                   // address of the next alloca
  std::uint32_t fresh_ = 0;                    // blocks allocated here
  std::vector<Thrown> thrown_;                 // exceptions
  std::vector<Thrown> caught_;                 // whose handlers are not over, the innermost last
  std::optional<std::pair<std::uint64_t, std::uint32_t>> landing_;  // what the next landingpad results in
  std::size_t path_depth_;  // index, in the frames of the path, of the lowest one that is here
  std::string stopped_;
};

}  // namespace sooth
