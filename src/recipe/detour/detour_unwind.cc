// How DetourWalk follows exceptions, from where they are thrown to their handlers.
#include "recipe/detour/detour_walk.h"

#include <algorithm>

#include <llvm/IR/Instructions.h>

#include "recipe/witness/exception_types.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

namespace {

using Landing = ExceptionTypes::Landing;

// Where the frame goes with an exception that comes out of the call which it is in.
Landing landing_in(const ExceptionTypes& types, const CodeFrame& frame, const std::string& thrown) {
  const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(frame.code->steps[frame.pc].instruction);
  return invoke == nullptr ? Landing() : types.landing(*invoke->getLandingPadInst(), thrown);
}

}  // namespace

DetourWalk::Library DetourWalk::exceptions(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands,
                                           Cell* result) {
  const auto object_of = [&](unsigned argument) {
    const std::optional<std::uint64_t> object = number(*operands[argument]);
    return std::find_if(thrown_.begin(), thrown_.end(), [&](const Thrown& t) { return object && t.object == *object; });
  };
  if (name == "__cxa_throw" && call.arg_size() == 3) {
    const std::optional<std::uint64_t> object = number(*operands[0]);
    const auto* destructor = llvm::dyn_cast<llvm::Function>(call.getArgOperand(2)->stripPointerCasts());
    const std::string type = ExceptionTypes::key(*call.getArgOperand(1)->stripPointerCasts());
    if (object && type.empty()) {
      stop("an exception of which the type is not known");
    }
    return object && stopped_.empty() && raise({*object, type, destructor}) ? Library::kGone : Library::kStopped;
  }
  if (const std::string type = ExceptionTypes::thrown_by(name); !type.empty()) {
    return raise({fresh_block(explorer_->thread_, fresh_++), type, nullptr}) ? Library::kGone : Library::kStopped;
  }
  if (name == "__cxa_begin_catch" && call.arg_size() == 1) {
    const auto exception = object_of(0);
    if (exception == thrown_.end()) {
      return Library::kNotKnown;
    }
    caught_.push_back(*exception);
    *result = {exception->object, kNoExpr};
    return Library::kDone;
  }
  if (name == "__cxa_rethrow" && !caught_.empty()) {
    const Thrown exception = caught_.back();
    caught_.back().is_rethrown = true;
    return raise(exception) ? Library::kGone : Library::kStopped;
  }
  if (name == "__cxa_end_catch" && !caught_.empty()) {
    return end_catch(call);
  }
  switch (ExceptionTypes::member(name)) {
    case ExceptionTypes::Member::kNone: break;
    case ExceptionTypes::Member::kConstructor: {
      Cell object = *operands[0];
      const std::vector<Byte> unknown(kStandardExceptionBytes);
      return place(object) && write_quietly(object.bits, unknown) ? Library::kDone : Library::kStopped;
    }
    case ExceptionTypes::Member::kDestructor: return Library::kDone;
  }
  return Library::kNotKnown;
}

// The exception is over, unless it was thrown again: its destructor runs.
DetourWalk::Library DetourWalk::end_catch(const llvm::CallBase& call) {
  const Thrown exception = caught_.back();
  caught_.pop_back();
  if (exception.is_rethrown || exception.destructor == nullptr) {
    return Library::kDone;
  }
  const FunctionCode* code = explorer_->definition(*exception.destructor);
  if (code == nullptr) {
    if (ExceptionTypes::member(exception.destructor->getName()) != ExceptionTypes::Member::kDestructor) {
      stop("the destructor of an exception without IR");
      return Library::kStopped;
    }
    return Library::kDone;
  }
  if (code->function->arg_size() != 1 || llvm::isa<llvm::InvokeInst>(call)) {
    stop("the destructor of an exception");
    return Library::kStopped;
  }
  std::vector<Cell> cells(code->cells, Cell{0, kUnknownExpr});
  cells[static_cast<std::size_t>(code->arguments[0])] = {exception.object, kNoExpr};
  push(*code, cells);
  return Library::kGone;
}

bool DetourWalk::raise(const Thrown& exception) {
  thrown_.push_back(exception);
  if (!is_caught(exception)) {
    return stop("an exception that is not caught in code with IR");
  }
  return unwind(exception);
}

// Nothing is unwound for an exception without a handler.
bool DetourWalk::is_caught(const Thrown& exception) const {
  const ExceptionTypes& types = explorer_->exception_types();
  const auto kind = [&](const CodeFrame& frame) { return landing_in(types, frame, exception.type).kind; };
  for (std::size_t i = frames_.size(); i-- > 0;) {
    if (const Landing::Kind found = kind(frames_[i]);
        found == Landing::Kind::kCatches || found == Landing::Kind::kUnknown) {
      return found == Landing::Kind::kCatches;
    }
  }
  const std::span<const CodeFrame> below = explorer_->path_.frames();
  for (std::size_t i = path_depth_; i-- > 0;) {
    if (below[i].is_passage) {
      continue;
    }
    const Landing::Kind found = below[i].code == nullptr ? Landing::Kind::kUnknown : kind(below[i]);
    if (found == Landing::Kind::kCatches || found == Landing::Kind::kUnknown) {
      return found == Landing::Kind::kCatches;
    }
  }
  return false;
}

bool DetourWalk::unwind(const Thrown& exception) {
  for (;;) {
    const CodeFrame top = frames_.back();
    const Landing landing = landing_in(explorer_->exception_types(), top, exception.type);
    if (landing.kind == Landing::Kind::kCleans || landing.kind == Landing::Kind::kCatches) {
      landing_ = {exception.object, landing.selector};
      const auto* invoke = llvm::cast<llvm::InvokeInst>(top.code->steps[top.pc].instruction);
      return enter_block(*invoke->getParent(), *invoke->getUnwindDest());
    }
    if (landing.kind == Landing::Kind::kUnknown) {
      return stop("a handler of which it is not known what it catches");
    }
    if (frames_.size() == 1 && !descend()) {
      return false;
    }
    cells_.resize(frames_.back().base);
    frames_.pop_back();
    serials_.pop_back();
  }
}

bool DetourWalk::land(Cell* result) {
  if (!landing_) {
    return stop("an exception that was thrown before");
  }
  result[0] = {landing_->first, kNoExpr};
  result[1] = {landing_->second, kNoExpr};
  return true;
}

bool DetourWalk::resume(const Cell& given) {
  const Cell object = guessed(given);
  const auto exception = std::find_if(thrown_.rbegin(), thrown_.rend(),
                                      [&](const Thrown& t) { return is_known(object) && t.object == object.bits; });
  if (exception == thrown_.rend()) {
    return stop("an exception that was thrown before");
  }
  const Thrown copy = *exception;
  if (frames_.size() == 1 && !descend()) {
    return false;
  }
  cells_.resize(frames_.back().base);
  frames_.pop_back();
  serials_.pop_back();
  return unwind(copy);
}

}  // namespace sooth
