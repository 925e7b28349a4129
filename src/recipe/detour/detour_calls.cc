// How DetourWalk follows calls, and what comes back from them.
#include "recipe/detour/detour_walk.h"

#include <algorithm>

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "recipe/witness/exception_types.h"
#include "symbol/demangle.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

}  // namespace

bool DetourWalk::call(const llvm::CallBase& call, const Operands& operands, Cell* result) {
  SharedExecution& x = explorer_->x_;
  const auto go_on = [&] {
    const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
    return invoke == nullptr || enter_block(*invoke->getParent(), *invoke->getNormalDest());
  };
  if (const llvm::Intrinsic::ID id = call.getIntrinsicID(); id != llvm::Intrinsic::not_intrinsic) {
    if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
      const bool is_fill = llvm::isa<llvm::MemSetInst>(memory);
      return move(*operands[0], *operands[1], *operands[2], is_fill ? operands[1] : nullptr) == Library::kDone &&
             go_on();
    }
    if (id == llvm::Intrinsic::eh_typeid_for) {
      const ExceptionTypes& types = explorer_->exception_types();
      const std::uint32_t type = types.number(ExceptionTypes::key(*call.getArgOperand(0)->stripPointerCasts()));
      *result = {type, type == 0 ? kUnknownExpr : kNoExpr};
      return go_on();
    }
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
    const Cell address = guessed(*operands[call.getNumOperands() - 1]);
    const std::optional<DeepProgram::Place> place =
        is_known(address) ? x.code.program().function_at(address.bits) : std::optional<DeepProgram::Place>();
    if (!place) {
      return stop("an indirect call");
    }
    arithmetic_.pin(address, Why::kBranch, *this);
    function = place->function;
  }
  if (function->isDeclaration()) {
    const Library known = library(call, function->getName(), operands, result);
    if (known != Library::kNotKnown) {
      return known == Library::kGone || (known == Library::kDone && go_on());
    }
  }
  const FunctionCode* code = explorer_->definition(*function);
  if (code == nullptr) {
    return stop("call of " + demangle(function->getName().str()));
  }
  if (frames_.size() > (has_view() ? x.options.view_call_depth : x.options.call_depth)) {
    return stop("calls nested too deeply");
  }
  if (!has_view() &&
      std::any_of(frames_.begin(), frames_.end(), [&](const CodeFrame& frame) { return frame.code == code; })) {
    return stop("recursion");
  }
  return enter(*code, call, operands);
}

bool DetourWalk::enter(const FunctionCode& code, const llvm::CallBase& call, const Operands& operands) {
  CodeTable& table = explorer_->x_.code;
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
  push(code, cells);
  return true;
}

void DetourWalk::push(const FunctionCode& code, std::span<const Cell> cells) {
  frames_.push_back({.code = &code, .base = static_cast<std::uint32_t>(cells_.size())});
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  serials_.push_back(next_serial_++);
  ++visits_[{serials_.back(), &code.function->getEntryBlock()}].count;
  note(code.function->getEntryBlock());
}

// The function of the branch ends: goes on in its caller, as the thread has left it.
bool DetourWalk::descend() {
  const std::span<const CodeFrame> frames = explorer_->path_.frames();
  while (path_depth_ > 0 && frames[path_depth_ - 1].is_passage) {
    --path_depth_;
  }
  if (path_depth_ == 0 || frames[path_depth_ - 1].code == nullptr) {
    const bool is_end = has_view() && path_depth_ <= 1;  // what has started the thread
    return stop(is_end ? kFollowedToTheEnd : "return to code without IR");
  }
  const CodeFrame& below = frames[--path_depth_];
  const Cell* cells = explorer_->path_.cells(below);
  cells_.insert(cells_.begin(), cells, cells + below.code->cells);
  assume(std::span(cells_).first(below.code->cells));
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

}  // namespace sooth
