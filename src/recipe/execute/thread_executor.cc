#include "recipe/execute/thread_executor.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

// Instructions without a record or an event: only a loop that does nothing has so many.
constexpr std::uint64_t kMaxIdle = std::uint64_t{1} << 22;

const char* name(DeepKind kind) {
  switch (kind) {
    case DeepKind::kEnter: return "the entry of a function";
    case DeepKind::kWord: return "a word";
    case DeepKind::kAddress: return "an address";
    case DeepKind::kBranch: return "a branch";
    case DeepKind::kReturn: return "a return";
    case DeepKind::kLanded: return "a landing";
  }
  return "";
}

}  // namespace

ThreadExecutor::ThreadExecutor(SharedExecution& execution, std::uint32_t thread, std::vector<DeepRecord> records)
    : x_(execution),
      table_(execution.program.expressions),
      thread_(thread),
      events_(execution.index.events_of(thread)),
      records_(std::move(records)),
      arithmetic_(execution.code, execution.program.expressions, execution.cases),
      memory_(execution.options.detours) {
  record_position_.reserve(records_.size());
  std::uint32_t position = 0;
  for (const DeepRecord& record : records_) {
    while (position < events_.size() && events_[position] < raw(record.before)) {
      ++position;
    }
    record_position_.push_back(position);
  }
  if (execution.options.detours) {
    detours_ = explore_untaken_sides(execution, *this, thread);
  }
}

ThreadExecutor::~ThreadExecutor() = default;

SymbolicThread ThreadExecutor::run() {
  out_.thread = thread_;
  if (records_.empty()) {
    out_.why_ended = events_.empty() ? "" : "the thread has run no deep code";
    return std::move(out_);
  }
  frames_.push_back({.is_pinned = true});  // whatever started the thread
  while (!is_stopped_ && step()) {
  }
  out_.end = is_stopped_ && !out_.why_ended.empty() ? next_ : static_cast<std::uint32_t>(events_.size());
  out_.coverage.concretised = arithmetic_.pins();
  if (detours_ != nullptr) {
    out_.detours = detours_->take();
    out_.untaken = detours_->sides();
    out_.left = detours_->left();
  }
  return std::move(out_);
}

bool ThreadExecutor::stop(std::string why) {
  is_stopped_ = true;
  out_.why_ended = std::move(why);
  if (at_ != nullptr && !out_.why_ended.empty()) {
    const Site site = x_.code.program().site(*at_);
    out_.why_ended += " at " + (site.label.empty() ? site.function : site.label);
  }
  return false;
}

bool ThreadExecutor::ran_out(const char* wanted) {
  return is_over() ? stop("") : stop(std::string("the code goes on with ") + wanted + ", and the recording does not");
}

bool ThreadExecutor::is_interrupted(std::size_t record, std::uint32_t position) const {
  const auto is_access_at = [&](EventIndex e) { return is_access(x_.index.event(e).op); };
  return next_record_ == record && record < records_.size() && records_[record].kind == DeepKind::kEnter &&
         std::none_of(events_.begin() + position, events_.begin() + record_position_[record], is_access_at);
}

void ThreadExecutor::hold(ExprId condition, Why why) {
  if (detours_ != nullptr && at_ != nullptr) {
    detours_->check(condition, *at_, next_, static_cast<std::uint32_t>(out_.conditions.size()), next_event());
  }
  held_[raw(condition)] = true;
  PathCondition made{next_, condition, why, std::nullopt};
  if (at_ != nullptr) {
    made.at = x_.code.program().ref(*at_);
  }
  out_.conditions.push_back(made);
}

bool ThreadExecutor::is_held(ExprId condition) const { return held_.contains(raw(condition)); }

// --- the streams ---

bool ThreadExecutor::skip_to(std::uint32_t position) {
  for (; next_ < position; ++next_) {
    if (is_access(x_.index.event(event(next_)).op)) {
      return ran_out("a record");
    }
  }
  return true;
}

const DeepRecord* ThreadExecutor::take(DeepKind kind) {
  const DeepRecord* record = peek();
  if (record == nullptr || record->kind != kind) {
    ran_out(name(kind));
    return nullptr;
  }
  if (!skip_to(record_position_[next_record_])) {
    return nullptr;
  }
  ++next_record_;
  return record;
}

bool ThreadExecutor::take_words(std::size_t count, std::vector<std::uint64_t>& words) {
  words.clear();
  for (; words.size() < count;) {
    const DeepRecord* word = take(DeepKind::kWord);
    if (word == nullptr) {
      return false;
    }
    words.push_back(word->value);
  }
  return true;
}

bool ThreadExecutor::is_due(Op& op) {
  while (next_ < events_.size() && !is_access(x_.index.event(event(next_)).op)) {
    ++next_;
  }
  if (next_ == events_.size() || (peek() != nullptr && record_position_[next_record_] <= next_)) {
    return ran_out("an access");
  }
  op = x_.index.event(event(next_)).op;
  return true;
}

bool ThreadExecutor::expect_access(Op op, const Cell& address, std::uint64_t size) {
  Op found{};
  if (!is_due(found)) {
    return false;
  }
  const Event& next = x_.index.event(event(next_));
  if (found != op || next.size != size || (is_known(address) && next.object != address.bits)) {
    return stop("the code makes another access than event " + std::to_string(event(next_)));
  }
  return true;
}

void ThreadExecutor::pass_over(std::uint32_t position) {
  const auto pin = [&](ExprId expr, std::uint64_t value) { arithmetic_.pin(Cell{value, expr}, Why::kOpaque, *this); };
  for (; next_ < position; ++next_) {
    const Event& passed = x_.index.event(event(next_));
    if (is_read(passed.op)) {
      memory_.make_constant(table_, passed.object, passed.size, pin);
    }
    if (is_write(passed.op) || passed.op == Op::kAlloc) {
      memory_.forget(passed.object, passed.size);
    }
    const Value value = x_.trace.values.empty() ? Value{} : x_.trace.values[event(next_)];
    if ((passed.op == Op::kRead || passed.op == Op::kWrite) && value.size > 0 && value.size <= 8 &&
        !x_.sharing.is_shared(event(next_))) {
      bytes_.assign(value.size, Byte{});
      take_apart(value.low, kNoExpr, bytes_);
      memory_.store(passed.object, bytes_);
    }
  }
}

// --- control ---

bool ThreadExecutor::step() {
  CodeFrame& frame = frames_.back();
  if (frame.code == nullptr) {
    return without_ir();
  }
  const Step& next = frame.code->steps[frame.pc];
  at_ = next.instruction;
  ++out_.coverage.instructions;
  Cell* result = cells_.data() + frame.base + next.result;
  const std::uint32_t depth = static_cast<std::uint32_t>(frames_.size());
  const std::uint32_t pc = frame.pc;
  const std::size_t record = next_record_;
  const std::uint32_t position = next_;
  idle_ = record == idle_record_ && position == idle_position_ ? idle_ + 1 : 0;
  idle_record_ = record;
  idle_position_ = position;
  if (idle_ > kMaxIdle) {
    return stop("the code goes on and on without anything that the recording knows of");
  }
  if (!execute(next, result)) {
    if (frames_.size() != depth || out_.why_ended.empty() || !is_interrupted(record, position)) {
      return false;
    }
    is_stopped_ = false;
    out_.why_ended.clear();
    frames_.push_back({.is_pinned = true, .is_interruption = true});
    return true;
  }
  // What jumps, calls or returns has set the next step itself.
  if (frames_.size() == depth && frames_.back().pc == pc && !next.instruction->isTerminator()) {
    ++frames_.back().pc;
    if (!next.instruction->getType()->isVoidTy()) {
      out_.coverage.symbolic += is_symbolic(*(cells_.data() + frames_.back().base + next.result)) ? 1 : 0;
    }
  }
  return true;
}

bool ThreadExecutor::execute(const Step& step, Cell* result) {
  const llvm::Instruction& instruction = *step.instruction;
  const CodeFrame& frame = frames_.back();
  const Operands operands(*frame.code, step, cells_.data() + frame.base);
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Load:
    case llvm::Instruction::Store:
    case llvm::Instruction::AtomicRMW:
    case llvm::Instruction::AtomicCmpXchg: return access(instruction, operands, result);
    case llvm::Instruction::Fence: return true;
    case llvm::Instruction::Alloca: {
      const DeepRecord* address = take(DeepKind::kAddress);
      if (address == nullptr) {
        return false;
      }
      *result = {address->value, kNoExpr};
      const auto& alloca = llvm::cast<llvm::AllocaInst>(instruction);
      arithmetic_.pin(*operands[0], Why::kNotModelled, *this);
      const std::uint64_t size =
          alloca.getModule()->getDataLayout().getTypeAllocSize(alloca.getAllocatedType()).getFixedValue() *
          (is_known(*operands[0]) ? operands[0]->bits : 1);
      memory_.forget(address->value, size);
      stack_begin_ = std::min(stack_begin_, address->value);
      stack_end_ = std::max(stack_end_, address->value + size);
      return true;
    }
    case llvm::Instruction::Br: return branch(llvm::cast<llvm::BranchInst>(instruction));
    case llvm::Instruction::Switch: return branch(llvm::cast<llvm::SwitchInst>(instruction));
    case llvm::Instruction::Ret: return leave(llvm::cast<llvm::ReturnInst>(instruction));
    case llvm::Instruction::Call:
    case llvm::Instruction::Invoke: return call(llvm::cast<llvm::CallBase>(instruction), step, result);
    case llvm::Instruction::Resume:  // the unwinder takes over
      frames_.push_back({.is_pinned = true});
      return true;
    case llvm::Instruction::LandingPad:
      std::fill_n(result, x_.code.layout(*instruction.getModule(), instruction.getType()).leaves.size(),
                  Cell{0, kUnknownExpr});
      return true;
    case llvm::Instruction::Unreachable: return stop("the code ends here, and the recording does not");
    default: break;
  }
  return arithmetic_.compute(instruction, operands, result, *this) ||
         stop(std::string("no model of the instruction ") + instruction.getOpcodeName());
}

void ThreadExecutor::enter_block(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  CodeFrame& frame = frames_.back();
  if (detours_ != nullptr) {
    executed_.insert(&to);
  }
  out_.coverage.instructions += sooth::enter_block(x_.code, frame, cells_.data() + frame.base, from, to, phis_);
}

bool ThreadExecutor::branch(const llvm::BranchInst& branch) {
  if (branch.isUnconditional()) {
    if (is_over()) {
      return stop("");  // cut off; it might be an endless loop
    }
    enter_block(*branch.getParent(), *branch.getSuccessor(0));
    return true;
  }
  const CodeFrame& frame = frames_.back();
  const Cell condition = *Operands(*frame.code, frame.code->steps[frame.pc], cells_.data() + frame.base)[0];
  const DeepRecord* record = take(DeepKind::kBranch);
  return record != nullptr && go(branch, condition, static_cast<std::uint32_t>(record->value));
}

bool ThreadExecutor::branch(const llvm::SwitchInst& branch) {
  const CodeFrame& frame = frames_.back();
  const Cell value = *Operands(*frame.code, frame.code->steps[frame.pc], cells_.data() + frame.base)[0];
  const DeepRecord* record = take(DeepKind::kBranch);
  return record != nullptr && go(branch, value, static_cast<std::uint32_t>(record->value));
}

bool ThreadExecutor::go(const llvm::Instruction& branch, const Cell& value, std::uint32_t outcome) {
  if (outcome >= branch.getNumSuccessors()) {
    return stop("a branch has fewer successors than the record says");
  }
  const llvm::BasicBlock* to = branch.getSuccessor(outcome);
  if (is_known(value) && branch.getSuccessor(outcome_of(branch, value.bits)) != to) {
    return stop("a branch goes another way than the record says");
  }
  if (is_symbolic(value)) {
    if (detours_ != nullptr) {
      detours_->explore(branch, value, outcome, next_, static_cast<std::uint32_t>(out_.conditions.size()),
                        static_cast<EventIndex>(raw(records_[next_record_ - 1].before)));
    }
    arithmetic_.hold(goes_to(table_, branch, value.expr, *to), Why::kBranch, *this);
  }
  enter_block(*branch.getParent(), *to);
  return true;
}

// An exception, or a second return of the same call, has left some frames.
bool ThreadExecutor::land() {
  const DeepRecord& record = *peek();
  const FunctionCode* code = x_.code.function(record.module, record.function);
  const llvm::Instruction* target =
      code == nullptr || record.id >= code->steps.size() ? nullptr : code->steps[record.id].instruction;
  const auto fits = [&](const CodeFrame& frame) {
    if (frame.code != code || target == nullptr) {
      return false;
    }
    const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(frame.code->steps[frame.pc].instruction);
    return llvm::isa<llvm::CallBase>(target) || (invoke != nullptr && invoke->getLandingPadInst() == target);
  };
  std::size_t depth = frames_.size();
  while (depth > 0 && !fits(frames_[depth - 1])) {
    --depth;
  }
  if (depth == 0) {
    return stop("an exception lands where no call is pending");
  }
  pass_over(record_position_[next_record_]);
  ++next_record_;
  frames_.resize(depth);
  CodeFrame& frame = frames_.back();
  cells_.resize(frame.base + frame.code->cells);
  if (llvm::isa<llvm::CallBase>(target)) {
    frame.pc = record.id;
    frames_.push_back({.is_pinned = true});
  } else {
    const auto* invoke = llvm::cast<llvm::InvokeInst>(frame.code->steps[frame.pc].instruction);
    enter_block(*invoke->getParent(), *invoke->getUnwindDest());
  }
  return true;
}

}  // namespace sooth
