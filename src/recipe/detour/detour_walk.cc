#include "recipe/detour/detour_walk.h"

#include <algorithm>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "base/ids.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

MemoryOrder order_of(llvm::AtomicOrdering order) {
  switch (order) {
    case llvm::AtomicOrdering::NotAtomic: return MemoryOrder::kNotAtomic;
    case llvm::AtomicOrdering::Unordered:
    case llvm::AtomicOrdering::Monotonic: return MemoryOrder::kRelaxed;
    case llvm::AtomicOrdering::Acquire: return MemoryOrder::kAcquire;
    case llvm::AtomicOrdering::Release: return MemoryOrder::kRelease;
    case llvm::AtomicOrdering::AcquireRelease: return MemoryOrder::kAcqRel;
    case llvm::AtomicOrdering::SequentiallyConsistent: return MemoryOrder::kSeqCst;
  }
  return MemoryOrder::kSeqCst;
}

}  // namespace

DetourWalk::DetourWalk(DetourExplorer& explorer, std::vector<std::pair<std::uint32_t, std::uint64_t>> assumed,
                       EventIndex before)
    : explorer_(&explorer),
      assumed_(std::move(assumed)),
      before_(before),
      arithmetic_(explorer.x_.code, explorer.x_.program.expressions, explorer.x_.cases),
      last_instruction_(explorer.x_.options.instructions),
      next_local_(kDetourLocals),
      path_depth_(explorer.path_.frames().size() - 1) {
  // A call of code without IR stands on top, and is about to happen.
  while (explorer.path_.frames()[path_depth_].code == nullptr && path_depth_ > 0) {
    --path_depth_;
  }
  const CodeFrame& top = explorer.path_.frames()[path_depth_];
  if (top.code == nullptr) {
    stop("code without IR");
    return;
  }
  const Cell* cells = explorer.path_.cells(top);
  cells_.assign(cells, cells + top.code->cells);
  assume(cells_);
  frames_.push_back({.code = top.code, .pc = top.pc});
  serials_.push_back(next_serial_++);
}

DetourWalk::DetourWalk(DetourExplorer& explorer, const View& view, EventIndex before)
    : DetourWalk(explorer, view.other(), before) {
  view_ = view;
  last_instruction_ = explorer.x_.options.view_instructions;
}

void DetourWalk::assume(std::span<Cell> cells) const {
  for (Cell& cell : cells) {
    cell = guessed(cell);
  }
}

void DetourWalk::assume(std::span<Byte> bytes) const {
  for (Byte& byte : bytes) {
    if (!assumed_.empty() && byte.is_known && byte.expr != kNoExpr) {
      byte.value = static_cast<std::uint8_t>(explorer_->evaluate(byte.expr, assumed_) >> (8 * byte.part));
    }
  }
}

std::optional<std::uint64_t> DetourWalk::guess(std::uint64_t address, std::uint32_t size) const {
  return view_ ? view_->value(address, size, before_) : explorer_->x_.sharing.value_at(address, size, before_);
}

void DetourWalk::start(const llvm::Instruction& branch, const llvm::BasicBlock& to, const llvm::BasicBlock* meet) {
  meet_ = meet;
  enter_block(*branch.getParent(), to);
}

Cell DetourWalk::guessed(const Cell& cell) const {
  return assumed_.empty() || !is_symbolic(cell) ? cell : Cell{explorer_->evaluate(cell.expr, assumed_), cell.expr};
}

bool DetourWalk::stop(std::string why) {
  stopped_ = std::move(why);
  return false;
}

void DetourWalk::hold(ExprId condition, Why) {
  held_[raw(condition)] = true;
  pending_.push_back(condition);
  if (condition == explorer_->x_.program.expressions.no()) {
    stop("a contradiction");
  }
}

bool DetourWalk::is_held(ExprId condition) const {
  return held_.contains(raw(condition)) || explorer_->path_.is_held(condition);
}

bool DetourWalk::step(std::vector<DetourWalk>& open) {
  if (++instructions_ > last_instruction_) {
    return stop("too many instructions");
  }
  const CodeFrame frame = frames_.back();
  const Step& next = frame.code->steps[frame.pc];
  const std::size_t depth = frames_.size();
  if (!execute(next, cells_.data() + frame.base + next.result, open)) {
    return false;
  }
  if (frames_.size() == depth && frames_.back().pc == frame.pc && !next.instruction->isTerminator()) {
    ++frames_.back().pc;
  }
  return true;
}

// The sides of the branch have met. What comes is not of interest unless it leads to new code.
bool DetourWalk::meet() {
  if (has_view()) {  // it has to be followed to its end: what others see of it may be anywhere
    return true;
  }
  if (!is_beyond_) {
    is_beyond_ = true;
    steps_to_keep_ = steps_.size();
    last_instruction_ = std::min(instructions_ + explorer_->x_.options.beyond, last_instruction_);
  }
  return explorer_->x_.options.beyond > 0 || stop(kFollowedToTheEnd);
}

void DetourWalk::run(std::vector<DetourWalk>& open) {
  while (stopped_.empty() && step(open)) {
  }
  if (is_beyond_ && news_.empty()) {
    steps_.resize(steps_to_keep_);
    stopped_ = kFollowedToTheEnd;
  }
}

void DetourWalk::note(const llvm::BasicBlock& block) {
  if (is_beyond_ && !explorer_->path_.has_executed(block)) {
    news_.push_back(&block);
  }
}

bool DetourWalk::enter_block(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  if (frames_.size() == 1 && serials_.back() == 0 && &to == meet_ && !meet()) {
    return false;
  }
  note(to);
  // Loops: turns in which values of other threads decide nothing cost little; of the others there may be many ways.
  Visits& visits = visits_[{serials_.back(), &to}];
  const ExecuteOptions& options = explorer_->x_.options;
  const bool is_plain_turn = visits.count > 0 && visits.choices == choices_;
  visits.choices = choices_;
  if (has_view()) {  // there is one way only, so loops go round as often as they do
    ++visits.count;
  } else if ((is_plain_turn ? ++visits.turns > options.plain_turns : ++visits.count > options.turns + 1) ||
             (!is_plain_turn && visits.count == options.turns + 1 && to.getTerminator()->getNumSuccessors() < 2)) {
    return stop("too many turns of a loop");
  }
  std::vector<Cell> scratch;
  CodeFrame& frame = frames_.back();
  sooth::enter_block(explorer_->x_.code, frame, cells_.data() + frame.base, from, to, scratch);
  return true;
}

bool DetourWalk::execute(const Step& step, Cell* result, std::vector<DetourWalk>& open) {
  const llvm::Instruction& instruction = *step.instruction;
  const CodeFrame& frame = frames_.back();
  const Operands operands(*frame.code, step, cells_.data() + frame.base);
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Load: {
      const auto& load = llvm::cast<llvm::LoadInst>(instruction);
      return this->load(instruction, load.getType(), *operands[0], load.isAtomic() ? Op::kAtomicLoad : Op::kRead,
                        order_of(load.getOrdering()), result);
    }
    case llvm::Instruction::Store: {
      const auto& store = llvm::cast<llvm::StoreInst>(instruction);
      return this->store(instruction, store.getValueOperand()->getType(), *operands[1], operands[0],
                         store.isAtomic() ? Op::kAtomicStore : Op::kWrite, order_of(store.getOrdering()));
    }
    case llvm::Instruction::AtomicRMW:
    case llvm::Instruction::AtomicCmpXchg: return rmw(instruction, operands, result);
    case llvm::Instruction::Alloca: {
      const auto& alloca = llvm::cast<llvm::AllocaInst>(instruction);
      const std::uint64_t size =
          alloca.getModule()->getDataLayout().getTypeAllocSize(alloca.getAllocatedType()).getFixedValue();
      if (!is_known(*operands[0]) || is_symbolic(*operands[0])) {
        return stop("a local variable of unknown size");
      }
      *result = {next_local_, kNoExpr};
      next_local_ += (size * operands[0]->bits + 4096) & ~std::uint64_t{63};
      return true;
    }
    case llvm::Instruction::Br: {
      const auto& jump = llvm::cast<llvm::BranchInst>(instruction);
      return jump.isUnconditional() ? enter_block(*jump.getParent(), *jump.getSuccessor(0))
                                    : branch(jump, *operands[0], open);
    }
    case llvm::Instruction::Switch: return branch(instruction, *operands[0], open);
    case llvm::Instruction::Ret: return leave(llvm::cast<llvm::ReturnInst>(instruction));
    case llvm::Instruction::Call:
    case llvm::Instruction::Invoke: return call(llvm::cast<llvm::CallBase>(instruction), operands, result);
    case llvm::Instruction::LandingPad: return land(result);
    case llvm::Instruction::Resume: return resume(*operands[0]);
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::ICmp:
      if (std::any_of(instruction.op_begin(), instruction.op_end(), [&](const llvm::Use& use) {
            const Cell& cell = *operands[use.getOperandNo()];
            const bool is_equality = instruction.getOpcode() == llvm::Instruction::ICmp &&
                                     llvm::cast<llvm::ICmpInst>(instruction).isEquality();
            return use->getType()->isPointerTy() && is_known(cell) && is_detour_local(cell.bits) && !is_equality;
          })) {
        return stop("an address that is not known");
      }
      break;
    default: break;
  }
  return (arithmetic_.compute(instruction, operands, result, *this) && stopped_.empty()) ||
         stop(stopped_.empty() ? std::string("the instruction ") + instruction.getOpcodeName() : stopped_);
}

bool DetourWalk::branch(const llvm::Instruction& branch, const Cell& given, std::vector<DetourWalk>& open) {
  const Cell value = guessed(given);
  if (!is_known(value)) {
    return stop("a branch on a value that is not known");
  }
  ExprTable& table = explorer_->x_.program.expressions;
  const llvm::BasicBlock* to = branch.getSuccessor(outcome_of(branch, value.bits));
  if (is_symbolic(value)) {
    ++choices_;
    std::vector<const llvm::BasicBlock*> seen{to};
    for (unsigned i = 0; i < (has_view() ? 0 : branch.getNumSuccessors()); ++i) {
      const llvm::BasicBlock* other = branch.getSuccessor(i);
      const ExprId condition = goes_to(table, branch, value.expr, *other);
      const bool is_known_code = is_beyond_ && news_.empty() && explorer_->path_.has_executed(*other);
      if (std::find(seen.begin(), seen.end(), other) != seen.end() || condition == table.no() || is_known_code ||
          is_held(table.make(ExprOp::kNot, condition)) || open.size() >= explorer_->x_.options.paths) {
        continue;
      }
      seen.push_back(other);
      DetourWalk copy = *this;
      copy.arithmetic_.hold(condition, Why::kBranch, copy);
      copy.enter_block(*branch.getParent(), *other);
      open.push_back(std::move(copy));
    }
    arithmetic_.hold(goes_to(table, branch, value.expr, *to), Why::kBranch, *this);
  }
  return enter_block(*branch.getParent(), *to);
}

// --- memory ---

bool DetourWalk::is_private(std::uint64_t address, std::uint64_t size) const {
  return is_detour_local(address) || is_fresh_block(address) ||
         (explorer_->path_.is_own_stack(address) && !(view_ && view_->is_overlaid(address, size)) &&
          !explorer_->x_.is_reached(address, size) &&
          !explorer_->x_.sharing.others_touch(explorer_->thread_, address, size));
}

bool DetourWalk::place(Cell& address) {
  address = guessed(address);
  if (!is_known(address) || address.bits < kFirstAddress || address.bits >= kLastAddress) {
    return stop("an address that is not known");
  }
  arithmetic_.pin(address, Why::kBasePointer, *this);
  return stopped_.empty();
}

bool DetourWalk::add_step(const llvm::Instruction& at, Op op, MemoryOrder order, std::uint64_t object,
                          std::uint32_t size, ExprId read, ExprId written, bool is_unnamed) {
  const ExecuteOptions& options = explorer_->x_.options;
  if (steps_.size() >= (has_view() ? options.view_steps : options.steps)) {
    return stop("too many steps");
  }
  steps_.push_back({op, order, object, size, read, written, explorer_->x_.code.program().ref(at), explorer_->site(at),
                    std::exchange(pending_, {}), has_view() ? view_->cut() : kNoEvent, is_unnamed});
  if (op == Op::kRelease || (is_atomic(op) && is_write(op))) {
    mark();
  }
  if (size != 0 && explorer_->x_.is_reached(object, size)) {
    // It may be what is next; but what it finds there is up to that call, and so is what follows from it.
    return stop("memory that a call which is not recorded may touch");
  }
  return true;
}

// Some of the first points and the last one tell enough.
void DetourWalk::mark() {
  constexpr std::size_t kMost = 3;
  if (!has_view() || steps_.size() == steps_marked_) {
    return;
  }
  steps_marked_ = steps_.size();
  FlatMap<WrittenByte> written;
  written_.for_each([&](std::uint64_t address, const Byte& byte) {
    if (!is_detour_local(address)) {
      written[address] = {true, byte.is_known ? std::optional(byte.value) : std::nullopt};
    }
  });
  if (marks_.size() == kMost) {
    marks_.pop_back();
  }
  marks_.push_back(std::move(written));
}

std::vector<FlatMap<WrittenByte>> DetourWalk::take_marks() {
  mark();
  return std::move(marks_);
}

void DetourWalk::write(std::uint64_t address, std::span<const Byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    written_[address + i] = bytes[i];
  }
}

bool DetourWalk::read(std::uint64_t address, std::span<Byte> bytes, ExprId& variable, bool& is_step) {
  SharedExecution& x = explorer_->x_;
  std::size_t own = 0;
  explorer_->path_.memory().load(address, bytes);
  assume(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (const Byte* written = written_.find(address + i)) {
      bytes[i] = *written;
      ++own;
    }
  }
  is_step = !is_private(address, bytes.size());
  if (!is_step || own == bytes.size()) {
    return true;
  }
  const bool is_known = std::all_of(bytes.begin(), bytes.end(), [](const Byte& byte) { return byte.is_known; });
  const bool is_overlaid = view_ && view_->is_overlaid(address, bytes.size());
  if (is_known && !is_overlaid && !x.sharing.others_write(explorer_->thread_, address, bytes.size())) {
    return true;
  }
  if (own == 0 && !is_overlaid && !x.is_reached(address, bytes.size())) {
    std::size_t settled = 0;
    for (; settled < bytes.size(); ++settled) {
      const std::optional<std::uint8_t> value = explorer_->settled_byte(address + settled, before_);
      if (!value) {
        break;
      }
      bytes[settled] = {kNoExpr, 0, *value, true};
    }
    if (settled == bytes.size()) {
      return true;
    }
  }
  if (own != 0 || bytes.size() > 8) {
    return stop("a value that is read in parts");
  }
  const std::optional<std::uint64_t> value = guess(address, static_cast<std::uint32_t>(bytes.size()));
  variable = x.new_variable(static_cast<unsigned>(8 * bytes.size()), value.value_or(0), address);
  take_apart(value.value_or(0), variable, bytes);
  return true;
}

bool DetourWalk::load_constant(const llvm::Instruction& at, llvm::Type* type, std::uint64_t address, Cell* result) {
  const DetourExplorer::ConstantGlobal* global = explorer_->constant_at(address);
  if (global == nullptr) {
    return false;
  }
  const llvm::DataLayout& data = at.getModule()->getDataLayout();
  llvm::Constant* value =
      llvm::ConstantFoldLoadFromConst(const_cast<llvm::Constant*>(global->variable->getInitializer()), type,
                                      llvm::APInt(64, address - global->begin), data);
  if (value == nullptr) {
    return false;
  }
  std::vector<Cell> cells;
  explorer_->x_.code.constant(global->module, *value, cells);
  if (cells.size() != explorer_->x_.code.layout(*at.getModule(), type).leaves.size()) {
    return false;
  }
  std::copy(cells.begin(), cells.end(), result);
  return true;
}

void DetourWalk::to_cells(const Layout& layout, std::span<const Byte> bytes, Cell* result) {
  for (const Layout::Leaf& leaf : layout.leaves) {
    const std::size_t count = (leaf.bits + 7) / 8;
    const Assembled whole = assemble(explorer_->x_.program.expressions, bytes.subspan(leaf.offset, count));
    *result++ = whole.is_known
                    ? arithmetic_.resize(Cell{whole.value, whole.expr}, static_cast<unsigned>(8 * count), leaf.bits)
                    : Cell{0, kUnknownExpr};
  }
}

bool DetourWalk::to_bytes(const Layout& layout, const Cell* value, std::span<Byte> bytes) {
  for (const Layout::Leaf& leaf : layout.leaves) {
    const std::size_t count = (leaf.bits + 7) / 8;
    if (is_known(*value)) {
      const Cell whole = arithmetic_.resize(*value, leaf.bits, static_cast<unsigned>(8 * count));
      take_apart(whole.bits, whole.expr, bytes.subspan(leaf.offset, count));
    }
    ++value;
  }
  return std::all_of(bytes.begin(), bytes.end(), [](const Byte& byte) { return byte.is_known; });
}

bool DetourWalk::load(const llvm::Instruction& at, llvm::Type* type, Cell address, Op op, MemoryOrder order,
                      Cell* result) {
  const Layout& layout = explorer_->x_.code.layout(*at.getModule(), type);
  if (!place(address)) {
    return false;
  }
  if (!layout.is_in_bytes) {
    return stop("a vector of bits");
  }
  if (load_constant(at, type, address.bits, result)) {
    return true;
  }
  if (const auto* plain = llvm::dyn_cast<llvm::LoadInst>(&at);
      plain != nullptr && is_standard_file_variable(plain->getPointerOperand())) {
    *result = {0, kUnknownExpr};
    return true;
  }
  std::vector<Byte> bytes(layout.bytes);
  ExprId variable = kNoExpr;
  bool is_step = false;
  if (!read(address.bits, bytes, variable, is_step)) {
    return false;
  }
  to_cells(layout, bytes, result);
  if (!is_step) {
    return true;
  }
  if (layout.bytes > 8) {
    return stop("a value of more than 8 bytes");
  }
  const Assembled whole = assemble(explorer_->x_.program.expressions, bytes);
  const ExprId read = whole.expr != kNoExpr ? whole.expr
                                            : explorer_->x_.program.expressions.constant(
                                                  static_cast<unsigned>(8 * layout.bytes), whole.value);
  return add_step(at, op, order, address.bits, static_cast<std::uint32_t>(layout.bytes), read, kNoExpr);
}

bool DetourWalk::store(const llvm::Instruction& at, llvm::Type* type, Cell address, const Cell* value, Op op,
                       MemoryOrder order) {
  const Layout& layout = explorer_->x_.code.layout(*at.getModule(), type);
  if (!place(address)) {
    return false;
  }
  if (!layout.is_in_bytes) {
    return stop("a vector of bits");
  }
  std::vector<Byte> bytes(layout.bytes);
  const bool is_known = to_bytes(layout, value, bytes);
  write(address.bits, bytes);
  if (is_private(address.bits, layout.bytes)) {
    return true;
  }
  if (!is_known || layout.bytes > 8 || (type->isPointerTy() && is_detour_local(value->bits))) {
    return stop("a value that is not known is stored");
  }
  const Assembled whole = assemble(explorer_->x_.program.expressions, bytes);
  const ExprId written = whole.expr != kNoExpr ? whole.expr
                                               : explorer_->x_.program.expressions.constant(
                                                     static_cast<unsigned>(8 * layout.bytes), whole.value);
  return add_step(at, op, order, address.bits, static_cast<std::uint32_t>(layout.bytes), kNoExpr, written);
}

// A compare-exchange is followed the way that succeeds or, in a view, the way it goes there.
bool DetourWalk::rmw(const llvm::Instruction& at, const Operands& operands, Cell* result) {
  const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at);
  llvm::Type* type = exchange != nullptr ? exchange->getNewValOperand()->getType() : at.getType();
  const Layout& layout = explorer_->x_.code.layout(*at.getModule(), type);
  Cell place = *operands[0];
  if (!this->place(place)) {
    return false;
  }
  if (layout.leaves.size() != 1 || !layout.is_in_bytes) {
    return stop("an atomic operation of this size");
  }
  const std::uint64_t address = place.bits;
  std::vector<Byte> bytes(layout.bytes);
  ExprId variable = kNoExpr;
  bool is_step = false;
  if (!read(address, bytes, variable, is_step)) {
    return false;
  }
  to_cells(layout, bytes, result);
  const Assembled before = assemble(explorer_->x_.program.expressions, bytes);
  const unsigned width = layout.leaves[0].bits;
  Cell after;
  if (exchange != nullptr) {
    const Cell equal = guessed(arithmetic_.compare(llvm::CmpInst::ICMP_EQ, width, result[0], *operands[1], *this));
    if (has_view() && is_known(equal) && equal.bits == 0) {
      arithmetic_.pin(equal, Why::kBranch, *this);
      result[1] = {0, kNoExpr};
      const ExprId found = before.expr != kNoExpr ? before.expr
                                                  : explorer_->x_.program.expressions.constant(
                                                        static_cast<unsigned>(8 * layout.bytes), before.value);
      return !is_step || add_step(at, Op::kAtomicLoad, order_of(exchange->getFailureOrdering()), address,
                                  static_cast<std::uint32_t>(layout.bytes), found, kNoExpr);
    }
    if (!is_known(equal) || (!is_symbolic(equal) && equal.bits == 0)) {
      return stop("a compare-exchange that fails");
    }
    arithmetic_.hold(arithmetic_.expr(equal, 1), Why::kBranch, *this);
    result[1] = {1, kNoExpr};
    after = *operands[2];
  } else {
    const auto& operation = llvm::cast<llvm::AtomicRMWInst>(at);
    after = arithmetic_.update(operation.getOperation(), width, *result, *operands[1], *this);
  }
  if (!to_bytes(layout, &after, bytes) || !before.is_known) {
    return stop("a value that is not known is stored");
  }
  write(address, bytes);
  if (!is_step) {
    return true;
  }
  const auto whole = [&](const Assembled& value) {
    return value.expr != kNoExpr
               ? value.expr
               : explorer_->x_.program.expressions.constant(static_cast<unsigned>(8 * layout.bytes), value.value);
  };
  const MemoryOrder order = order_of(exchange != nullptr ? exchange->getSuccessOrdering()
                                                         : llvm::cast<llvm::AtomicRMWInst>(at).getOrdering());
  return add_step(at, Op::kAtomicRmw, order, address, static_cast<std::uint32_t>(layout.bytes), whole(before),
                  whole(assemble(explorer_->x_.program.expressions, bytes)));
}

}  // namespace sooth
