#include "recipe/detour/detour_walk.h"

#include <algorithm>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "base/ids.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

// Local variables of functions that never ran are where no program has memory.
constexpr std::uint64_t kLocals = std::uint64_t{1} << 60;

bool is_local(std::uint64_t address) { return address >= kLocals && address < 2 * kLocals; }

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

DetourWalk::DetourWalk(DetourExplorer& explorer, const llvm::Instruction& branch, const llvm::BasicBlock& to,
                       const llvm::BasicBlock* meet, EventIndex before)
    : explorer_(&explorer),
      meet_(meet),
      before_(before),
      arithmetic_(explorer.x_.code, explorer.x_.program.expressions),
      last_instruction_(explorer.x_.options.instructions),
      next_local_(kLocals),
      path_depth_(explorer.path_.frames().size() - 1) {
  const CodeFrame& top = explorer.path_.frames().back();
  const Cell* cells = explorer.path_.cells(top);
  cells_.assign(cells, cells + top.code->cells);
  frames_.push_back({.code = top.code, .pc = top.pc});
  serials_.push_back(next_serial_++);
  enter_block(*branch.getParent(), to);
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
  if (!is_beyond_) {
    is_beyond_ = true;
    steps_to_keep_ = steps_.size();
    last_instruction_ = std::min(instructions_ + explorer_->x_.options.beyond, last_instruction_);
  }
  return explorer_->x_.options.beyond > 0 || stop("post-dominator");
}

void DetourWalk::run(std::vector<DetourWalk>& open) {
  while (stopped_.empty() && step(open)) {
  }
  if (is_beyond_ && news_.empty()) {
    steps_.resize(steps_to_keep_);
    stopped_ = "post-dominator";
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
  // A loop is gone through once: its head, which may end it, is seen again, what is in it is not.
  const std::uint32_t visits = ++visits_[{serials_.back(), &to}];
  if (visits > 2 || (visits == 2 && to.getTerminator()->getNumSuccessors() < 2)) {
    return stop("second turn of a loop");
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
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::ICmp:
      if (std::any_of(instruction.op_begin(), instruction.op_end(), [&](const llvm::Use& use) {
            const Cell& cell = *operands[use.getOperandNo()];
            const bool is_equality = instruction.getOpcode() == llvm::Instruction::ICmp &&
                                     llvm::cast<llvm::ICmpInst>(instruction).isEquality();
            return use->getType()->isPointerTy() && is_known(cell) && is_local(cell.bits) && !is_equality;
          })) {
        return stop("an address that is not known");
      }
      break;
    default: break;
  }
  return (arithmetic_.compute(instruction, operands, result, *this) && stopped_.empty()) ||
         stop(stopped_.empty() ? std::string("the instruction ") + instruction.getOpcodeName() : stopped_);
}

bool DetourWalk::branch(const llvm::Instruction& branch, const Cell& value, std::vector<DetourWalk>& open) {
  if (!is_known(value)) {
    return stop("a branch on a value that is not known");
  }
  ExprTable& table = explorer_->x_.program.expressions;
  const llvm::BasicBlock* to = branch.getSuccessor(outcome_of(branch, value.bits));
  if (is_symbolic(value)) {
    std::vector<const llvm::BasicBlock*> seen{to};
    for (unsigned i = 0; i < branch.getNumSuccessors(); ++i) {
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

bool DetourWalk::known_call(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands, Cell* result,
                            bool& is_known_name) {
  const bool is_lock = name == "pthread_mutex_lock";
  is_known_name = true;
  if ((is_lock || name == "pthread_mutex_unlock") && call.arg_size() == 1) {
    if (!place(*operands[0])) {
      return false;
    }
    if (!call.getType()->isVoidTy()) {
      *result = {0, kNoExpr};
    }
    return add_step(call, is_lock ? Op::kAcquire : Op::kRelease, MemoryOrder::kNotAtomic, operands[0]->bits, 0, kNoExpr,
                    kNoExpr);
  }
  // A start that succeeds. Who is started has done nothing yet, and what stands for it is not known.
  if (name == "pthread_create" && call.arg_size() == 4 && call.getType()->isIntegerTy()) {
    constexpr std::uint64_t kHandleBytes = 8;
    if (!place(*operands[0])) {
      return false;
    }
    if (!is_private(operands[0]->bits, kHandleBytes)) {
      return stop("a thread that is started where others see its handle");
    }
    const std::vector<Byte> unknown(kHandleBytes);
    write(operands[0]->bits, unknown);
    *result = {0, kNoExpr};
    return true;
  }
  is_known_name = false;
  return true;
}

bool DetourWalk::call(const llvm::CallBase& call, const Operands& operands, Cell* result) {
  SharedExecution& x = explorer_->x_;
  const auto go_on = [&] {
    const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
    return invoke == nullptr || enter_block(*invoke->getParent(), *invoke->getNormalDest());
  };
  if (const llvm::Intrinsic::ID id = call.getIntrinsicID(); id != llvm::Intrinsic::not_intrinsic) {
    if (id == llvm::Intrinsic::threadlocal_address || !arithmetic_.compute_intrinsic(call, operands, result, *this)) {
      return stop("the intrinsic " + llvm::Intrinsic::getBaseName(id).str());
    }
    return go_on();
  }
  if (call.isInlineAsm()) {
    return stop("inline assembly");
  }
  const llvm::Value* callee = call.getCalledOperand()->stripPointerCasts();
  const auto* function = llvm::dyn_cast<llvm::Function>(callee);
  if (function == nullptr) {
    const Cell& address = *operands[call.getNumOperands() - 1];
    const std::optional<DeepProgram::Place> place =
        is_known(address) ? x.code.program().function_at(address.bits) : std::optional<DeepProgram::Place>();
    if (!place) {
      return stop("an indirect call");
    }
    arithmetic_.pin(address, Why::kBranch, *this);
    function = place->function;
  }
  if (function->isDeclaration()) {
    bool is_known_name = false;
    if (!known_call(call, function->getName(), operands, result, is_known_name)) {
      return false;
    }
    if (is_known_name) {
      return go_on();
    }
  }
  const FunctionCode* code = explorer_->definition(*function);
  if (code == nullptr || code->function->isVarArg()) {
    return stop("call of " + function->getName().str());
  }
  if (frames_.size() > x.options.call_depth) {
    return stop("calls nested too deeply");
  }
  if (std::any_of(frames_.begin(), frames_.end(), [&](const CodeFrame& frame) { return frame.code == code; })) {
    return stop("recursion");
  }
  return enter(*code, call, operands);
}

bool DetourWalk::enter(const FunctionCode& code, const llvm::CallBase& call, const Operands& operands) {
  CodeTable& table = explorer_->x_.code;
  const auto base = static_cast<std::uint32_t>(cells_.size());
  std::vector<Cell> cells(code.cells, Cell{0, kUnknownExpr});
  for (unsigned i = 0; i < std::min<std::size_t>(call.arg_size(), code.function->arg_size()); ++i) {
    const std::size_t given = table.layout(*call.getModule(), call.getArgOperand(i)->getType()).leaves.size();
    const std::size_t wanted =
        table.layout(*code.function->getParent(), code.function->getArg(i)->getType()).leaves.size();
    if (given != wanted || call.isByValArgument(i)) {
      return stop("an argument that is copied");
    }
    std::copy_n(operands[i], given, cells.data() + code.arguments[i]);
  }
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  frames_.push_back({.code = &code, .base = base});
  serials_.push_back(next_serial_++);
  ++visits_[{serials_.back(), &code.function->getEntryBlock()}];
  note(code.function->getEntryBlock());
  return true;
}

// The function of the branch ends: goes on in its caller, as the thread has left it.
bool DetourWalk::descend() {
  const std::span<const CodeFrame> frames = explorer_->path_.frames();
  while (path_depth_ > 0 && frames[path_depth_ - 1].is_passage) {
    --path_depth_;
  }
  if (path_depth_ == 0 || frames[path_depth_ - 1].code == nullptr) {
    return stop("return to code without IR");
  }
  const CodeFrame& below = frames[--path_depth_];
  const Cell* cells = explorer_->path_.cells(below);
  cells_.insert(cells_.begin(), cells, cells + below.code->cells);
  frames_.back().base = below.code->cells;
  frames_.insert(frames_.begin(), {.code = below.code, .pc = below.pc});
  serials_.insert(serials_.begin(), next_serial_++);
  return meet();
}

bool DetourWalk::leave(const llvm::ReturnInst& ret) {
  if (frames_.size() == 1 && !descend()) {
    return false;
  }
  const CodeFrame frame = frames_.back();
  const Operands operands(*frame.code, frame.code->steps[frame.pc], cells_.data() + frame.base);
  const CodeFrame& below = frames_[frames_.size() - 2];
  const Step& call = below.code->steps[below.pc];
  if (ret.getReturnValue() != nullptr) {
    const std::size_t leaves =
        explorer_->x_.code.layout(*ret.getModule(), ret.getReturnValue()->getType()).leaves.size();
    if (leaves ==
        explorer_->x_.code.layout(*call.instruction->getModule(), call.instruction->getType()).leaves.size()) {
      std::copy_n(operands[0], leaves, cells_.data() + below.base + call.result);
    }
  }
  frames_.pop_back();
  serials_.pop_back();
  cells_.resize(frame.base);
  if (const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(call.instruction)) {
    return enter_block(*invoke->getParent(), *invoke->getNormalDest());
  }
  ++frames_.back().pc;
  return true;
}

// --- memory ---

bool DetourWalk::is_private(std::uint64_t address, std::uint64_t size) const {
  return is_local(address) || (explorer_->path_.is_own_stack(address) && !explorer_->x_.is_reached(address, size) &&
                               !explorer_->x_.sharing.others_touch(explorer_->thread_, address, size));
}

bool DetourWalk::place(const Cell& address) {
  if (!is_known(address) || address.bits < 4096) {
    return stop("an address that is not known");
  }
  arithmetic_.pin(address, Why::kBasePointer, *this);
  return stopped_.empty();
}

bool DetourWalk::add_step(const llvm::Instruction& at, Op op, MemoryOrder order, std::uint64_t object,
                          std::uint32_t size, ExprId read, ExprId written) {
  if (steps_.size() >= explorer_->x_.options.steps) {
    return stop("too many steps");
  }
  steps_.push_back({op, order, object, size, read, written, explorer_->x_.code.program().ref(at), explorer_->site(at),
                    std::exchange(pending_, {})});
  if (size != 0 && explorer_->x_.is_reached(object, size)) {
    // It may be what is next; but what it finds there is up to that call, and so is what follows from it.
    return stop("memory that a call which is not recorded may touch");
  }
  return true;
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
  if (is_known && !x.sharing.others_write(explorer_->thread_, address, bytes.size())) {
    return true;
  }
  if (own != 0 || bytes.size() > 8) {
    return stop("a value that is read in parts");
  }
  const std::uint64_t guess =
      x.sharing.value_at(address, static_cast<std::uint32_t>(bytes.size()), before_).value_or(0);
  variable = x.new_variable(static_cast<unsigned>(8 * bytes.size()), guess);
  take_apart(guess, variable, bytes);
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

bool DetourWalk::load(const llvm::Instruction& at, llvm::Type* type, const Cell& address, Op op, MemoryOrder order,
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

bool DetourWalk::store(const llvm::Instruction& at, llvm::Type* type, const Cell& address, const Cell* value, Op op,
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
  if (!is_known || layout.bytes > 8 || (type->isPointerTy() && is_local(value->bits))) {
    return stop("a value that is not known is stored");
  }
  const Assembled whole = assemble(explorer_->x_.program.expressions, bytes);
  const ExprId written = whole.expr != kNoExpr ? whole.expr
                                               : explorer_->x_.program.expressions.constant(
                                                     static_cast<unsigned>(8 * layout.bytes), whole.value);
  return add_step(at, op, order, address.bits, static_cast<std::uint32_t>(layout.bytes), kNoExpr, written);
}

// A compare-exchange is followed the way that succeeds.
bool DetourWalk::rmw(const llvm::Instruction& at, const Operands& operands, Cell* result) {
  const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at);
  llvm::Type* type = exchange != nullptr ? exchange->getNewValOperand()->getType() : at.getType();
  const Layout& layout = explorer_->x_.code.layout(*at.getModule(), type);
  if (!place(*operands[0])) {
    return false;
  }
  if (layout.leaves.size() != 1 || !layout.is_in_bytes) {
    return stop("an atomic operation of this size");
  }
  const std::uint64_t address = operands[0]->bits;
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
    const Cell equal = arithmetic_.compare(llvm::CmpInst::ICMP_EQ, width, result[0], *operands[1], *this);
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
