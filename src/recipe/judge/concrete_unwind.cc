// The part of ConcreteThread that is about exceptions: those of the tape, which its records tell of, and those beside it,
// which go where the descriptions of their types lead.
#include <algorithm>
#include <utility>

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "recipe/judge/concrete_thread.h"
#include "recipe/witness/exception_types.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

// An exception has reached a function: the innermost that is in an invoke with that landingpad. Or a call that may
// return twice is about to return.
ConcreteThread::Step ConcreteThread::landed(const DeepRecord& record) {
  const llvm::Instruction* target = program_.instruction({record.module, record.function, record.id});
  const auto* pad = llvm::dyn_cast_or_null<llvm::LandingPadInst>(target);
  const auto* twice = llvm::dyn_cast_or_null<llvm::CallBase>(target);
  const auto lands = [&](const Frame& frame) {
    const auto* invoke = llvm::dyn_cast_or_null<llvm::InvokeInst>(frame.calls);
    return pad != nullptr ? invoke != nullptr && !frame.unwinding && invoke->getLandingPadInst() == pad
                          : twice != nullptr && frame.function == twice->getFunction();
  };
  while (!frames_.empty() && !lands(frames_.back())) {
    frames_.pop_back();
  }
  if (frames_.empty()) {
    return stuck("an exception reaches, by its record, a function that it is not in");
  }
  if (observer_ != nullptr) {
    observer_->calls_end(where(), frames_.size());
  }
  Frame& frame = frames_.back();
  frame.direct_result.reset();
  if (pad == nullptr) {
    frame.unwinding = false;
    frame.calls = twice;
    frame.open = true;
    frame.at = twice->getIterator();
    return {};
  }
  const TypeShape* shape = ops_.shape(frame.module, pad->getType());
  if (shape == nullptr) {
    return stuck("the exception at " + place_text(*pad) + " is not modelled");
  }
  const auto* invoke = llvm::cast<llvm::InvokeInst>(frame.calls);
  frame.at = invoke->getIterator();
  frame.calls = nullptr;
  frame.open = false;
  if (Step step = go_to(*invoke->getUnwindDest())) {
    return step;
  }
  define(*pad, nothing_known(*shape));
  frame.at = std::next(pad->getIterator());
  return {};
}

// What `llvm.eh.typeid.for` results in.
ConcreteThread::Step ConcreteThread::number_of_type(const llvm::CallBase& call) {
  const std::string type = ExceptionTypes::key(*call.getArgOperand(0)->stripPointerCasts());
  const std::uint32_t number = ops_.exception_types().number(type);
  if (number == 0) {
    return stuck("the type of an exception at " + place_text(call) + " is not known");
  }
  define(call, Concrete(1, Scalar::known(llvm::APInt(32, number))));
  frames_.back().calls = &call;
  return finish_call(std::nullopt);
}

// Nothing: the function has nothing to do with exceptions.
std::optional<ConcreteThread::Step> ConcreteThread::exception_call(const llvm::CallBase& call, llvm::StringRef name) {
  if (name == "__cxa_throw" && call.arg_size() == 3) {
    const std::optional<std::uint64_t> object = number(call.getArgOperand(0));
    const std::string type = ExceptionTypes::key(*call.getArgOperand(1)->stripPointerCasts());
    if (!object || type.empty()) {
      return stuck("what is thrown at " + place_text(call) + " is not known");
    }
    const auto* destructor = llvm::dyn_cast<llvm::Function>(call.getArgOperand(2)->stripPointerCasts());
    return raise({*object, type, destructor}, call);
  }
  if (const std::string type = ExceptionTypes::thrown_by(name); !type.empty()) {
    const std::uint32_t thread = tape_.events.empty() ? 0 : raw(trace_.events[tape_.events[0]].thread);
    return raise({fresh_block(thread, fresh_blocks_++), type, nullptr}, call);
  }
  if (name == "__cxa_begin_catch" && call.arg_size() == 1) {
    const std::optional<std::uint64_t> object = number(call.getArgOperand(0));
    const Exception* exception = object ? thrown(*object) : nullptr;
    if (exception == nullptr) {
      return stuck("what is caught at " + place_text(call) + " is not known");
    }
    caught_.push_back(*exception);
    return finish_call(Concrete(1, Scalar::known(llvm::APInt(64, *object))));
  }
  if (name == "__cxa_rethrow" && !caught_.empty()) {
    const Exception exception = caught_.back();
    caught_.back().goes_on = true;
    return raise(exception, call);
  }
  if (name == "__cxa_end_catch" && !caught_.empty()) {
    return end_catch(call);
  }
  return std::nullopt;
}

const ConcreteThread::Exception* ConcreteThread::thrown(std::uint64_t object) const {
  const auto found = std::find_if(exceptions_.rbegin(), exceptions_.rend(),
                                  [&](const Exception& exception) { return exception.object == object; });
  return found == exceptions_.rend() ? nullptr : &*found;
}

// The last handler of an exception is over: it is destroyed.
ConcreteThread::Step ConcreteThread::end_catch(const llvm::CallBase& call) {
  const Exception exception = caught_.back();
  caught_.pop_back();
  if (exception.goes_on || exception.destructor == nullptr) {
    return finish_call(std::nullopt);
  }
  const std::optional<DeepProgram::Place> place = definition(*exception.destructor);
  if (!place) {
    const bool is_standard =
        ExceptionTypes::member(exception.destructor->getName()) == ExceptionTypes::Member::kDestructor;
    return is_standard ? finish_call(std::nullopt)
                       : stuck("what destroys the exception at " + place_text(call) + " cannot be executed");
  }
  if (place->function->arg_size() != 1) {
    return stuck("what destroys the exception at " + place_text(call) + " is no destructor");
  }
  Frame frame;
  frame.module = place->module;
  frame.function = place->function;
  frame.entry = Entry::kFollowed;
  frame.at = place->function->getEntryBlock().begin();
  frame.values[place->function->getArg(0)] = Concrete(1, Scalar::known(llvm::APInt(64, exception.object)));
  frames_.push_back(std::move(frame));
  return {};
}

// Without a handler nothing is unwound, and what becomes of it is not known in code that is not deep.
ConcreteThread::Step ConcreteThread::raise(const Exception& exception, const llvm::CallBase& at) {
  using Kind = ExceptionTypes::Landing::Kind;
  exceptions_.push_back(exception);
  for (std::size_t i = frames_.size(); i-- > 0;) {
    const auto* invoke = llvm::dyn_cast_or_null<llvm::InvokeInst>(frames_[i].calls);
    const Kind kind = invoke == nullptr
                          ? Kind::kPasses
                          : ops_.exception_types().landing(*invoke->getLandingPadInst(), exception.type).kind;
    if (kind == Kind::kCatches) {
      return unwind(exception);
    }
    const bool is_end = invoke == nullptr && frames_[i].calls != nullptr && frames_[i].calls->doesNotThrow();
    if (kind == Kind::kUnknown || is_end || frames_[i].entry == Entry::kForeign) {
      break;
    }
  }
  return stuck("who catches the exception that is thrown at " + place_text(at) + " is not known");
}

// Goes to the next function that cleans up or catches.
ConcreteThread::Step ConcreteThread::unwind(const Exception& exception) {
  using Kind = ExceptionTypes::Landing::Kind;
  for (; !frames_.empty(); frames_.pop_back()) {
    Frame& frame = frames_.back();
    const auto* invoke = llvm::dyn_cast_or_null<llvm::InvokeInst>(frame.calls);
    const llvm::LandingPadInst* pad = invoke == nullptr ? nullptr : invoke->getLandingPadInst();
    const ExceptionTypes::Landing landing =
        pad == nullptr ? ExceptionTypes::Landing() : ops_.exception_types().landing(*pad, exception.type);
    if (landing.kind == Kind::kCatches || landing.kind == Kind::kCleans) {
      frame.at = invoke->getIterator();
      frame.calls = nullptr;
      frame.open = false;
      frame.direct_result.reset();
      if (Step step = go_to(*invoke->getUnwindDest())) {
        return step;
      }
      define(*pad,
             {Scalar::known(llvm::APInt(64, exception.object)), Scalar::known(llvm::APInt(32, landing.selector))});
      frame.at = std::next(pad->getIterator());
      return {};
    }
    if (landing.kind == Kind::kUnknown || frame.entry == Entry::kForeign) {
      break;
    }
  }
  return stuck("an exception comes to code of which it is not known what it catches");
}

// An exception leaves the function.
ConcreteThread::Step ConcreteThread::resume(const llvm::Instruction& at) {
  if (left_at_ == nullptr) {
    frames_.back().unwinding = true;
    return {};
  }
  const Concrete* value = operand(at.getOperand(0));
  const bool is_known = value != nullptr && value->size() == 2 && (*value)[0].is_known();
  const Exception* exception = is_known ? thrown((*value)[0].bits.getZExtValue()) : nullptr;
  if (exception == nullptr || frames_.back().entry == Entry::kForeign) {
    return stuck("an exception leaves the function at " + place_text(at));
  }
  const Exception copy = *exception;
  frames_.pop_back();
  return unwind(copy);
}

}  // namespace sooth
