// The part of ConcreteThread that is about calls beside the recorded path: no record says what they did, so the callee is
// executed, or modelled.
#include <utility>
#include <vector>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>

#include "recipe/judge/callee.h"
#include "recipe/judge/concrete_arithmetic.h"
#include "recipe/judge/concrete_thread.h"
#include "recipe/witness/value_witness.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxDepthBesideTape = 256;

// Of a pthread_t.
constexpr std::uint64_t kHandleBytes = 8;

bool starts_thread(const llvm::CallBase& call) {
  const llvm::Function* callee = named_callee(call);
  return callee != nullptr && callee->isDeclaration() && callee->getName() == "pthread_create" &&
         call.arg_size() == 4 && call.getType()->isIntegerTy();
}

}  // namespace

ConcreteThread::Step ConcreteThread::call_beside_tape(const llvm::CallBase& call) {
  const llvm::Function* callee = named_callee(call);
  const bool locks = callee != nullptr && callee->isDeclaration() && callee->getName() == "pthread_mutex_lock";
  const bool unlocks = callee != nullptr && callee->isDeclaration() && callee->getName() == "pthread_mutex_unlock";
  if (locks || unlocks) {
    ConcreteStep step;
    step.kind = locks ? ConcreteStep::Kind::kAcquire : ConcreteStep::Kind::kRelease;
    step.op = locks ? Op::kAcquire : Op::kRelease;
    step.at = &call;
    step.address = call.arg_size() == 1 ? number(call.getArgOperand(0)) : std::nullopt;
    return step.address ? step : stuck("which mutex is meant at " + place_text(call) + " is not known");
  }
  if (starts_thread(call)) {
    ConcreteStep step;
    step.kind = ConcreteStep::Kind::kAccess;
    step.op = Op::kWrite;
    step.at = &call;
    step.size = kHandleBytes;
    step.address = number(call.getArgOperand(0));
    return step.address ? step : stuck("where the handle of the thread goes at " + place_text(call) + " is not known");
  }
  const std::optional<DeepProgram::Place> place = target(call);
  if (!place && callee != nullptr && callee->isDeclaration()) {
    if (std::optional<Step> step = exception_call(call, callee->getName())) {
      return *std::move(step);
    }
    std::optional<Concrete> result = real_function(call);
    return result ? finish_call(std::move(result)) : library_call(call, *callee);
  }
  if (!place || call.arg_size() != place->function->arg_size() || frames_.size() > kMaxDepthBesideTape) {
    return stuck("it calls " + callee_text(call) + " at " + place_text(call) +
                 " beside the recorded path, which cannot be executed");
  }
  return push(*place, &call, Entry::kFollowed);
}

std::optional<Concrete> ConcreteThread::real_function(const llvm::CallBase& call) {
  const llvm::Function* callee = named_callee(call);
  const llvm::Type* type = call.getType();
  if (callee == nullptr || !callee->isDeclaration() || call.arg_size() != 1 ||
      (!type->isDoubleTy() && !type->isFloatTy()) || call.getArgOperand(0)->getType() != type) {
    return std::nullopt;
  }
  llvm::StringRef name = callee->getName();
  if (type->isFloatTy() && !name.consume_back("f")) {
    return std::nullopt;
  }
  const llvm::Intrinsic::ID id = llvm::StringSwitch<llvm::Intrinsic::ID>(name)
                                     .Case("sqrt", llvm::Intrinsic::sqrt)
                                     .Case("fabs", llvm::Intrinsic::fabs)
                                     .Case("floor", llvm::Intrinsic::floor)
                                     .Case("ceil", llvm::Intrinsic::ceil)
                                     .Case("trunc", llvm::Intrinsic::trunc)
                                     .Default(llvm::Intrinsic::not_intrinsic);
  const Concrete* argument = operand(call.getArgOperand(0));
  if (id == llvm::Intrinsic::not_intrinsic || argument == nullptr || argument->size() != 1) {
    return std::nullopt;
  }
  const std::optional<Scalar> value = float_intrinsic(id, *type, {&(*argument)[0]});
  return value && value->is_known() ? std::optional(Concrete(1, *value)) : std::nullopt;
}

// Reads what the function reads, one byte after the other; then writes what it writes; then it has returned.
ConcreteThread::Step ConcreteThread::library_call(const llvm::CallBase& call, const llvm::Function& callee) {
  Frame& frame = frames_.back();
  if (!frame.library || frame.library->state == LibraryCall::State::kNeedsByte) {
    std::vector<std::optional<std::uint64_t>> arguments;
    for (const llvm::Use& argument : call.args()) {
      arguments.push_back(number(argument.get()));
    }
    const std::uint32_t thread = tape_.events.empty() ? 0 : raw(trace_.events[tape_.events[0]].thread);
    const auto is_stream = [&](std::uint64_t address) { return ops_.is_standard_stream(address); };
    frame.library = model_library_call(call, callee.getName().str(), arguments, frame.library_saw, is_stream,
                                       fresh_block(thread, fresh_blocks_), block_size_);
  }
  const LibraryCall& model = *frame.library;
  ConcreteStep step;
  step.kind = ConcreteStep::Kind::kAccess;
  step.at = &call;
  switch (model.state) {
    case LibraryCall::State::kNotKnown:
      return stuck("it calls " + callee_text(call) + " at " + place_text(call) +
                   " beside the recorded path, which cannot be executed");
    case LibraryCall::State::kNeedsByte:
      step.op = Op::kRead;
      step.address = model.missing;
      step.size = 1;
      return step;
    case LibraryCall::State::kDone: break;
  }
  if (frame.library_wrote < model.writes.size()) {
    step.op = Op::kWrite;
    step.address = model.writes[frame.library_wrote].address;
    step.size = model.writes[frame.library_wrote].bytes.size();
    return step;
  }
  fresh_blocks_ += model.allocates ? 1 : 0;
  const TypeShape* shape = ops_.shape(frame.module, call.getType());
  Concrete result;
  if (!call.getType()->isVoidTy()) {
    if (shape == nullptr || shape->leaves.size() != 1 || shape->leaves[0].bits > 64) {
      return stuck("the result of " + callee_text(call) + " at " + place_text(call) + " is not modelled");
    }
    const auto width = static_cast<unsigned>(shape->leaves[0].bits);
    result = model.result ? Concrete(1, Scalar::known(llvm::APInt(64, *model.result).zextOrTrunc(width)))
                          : nothing_known(*shape);
  }
  frame.library.reset();
  frame.library_saw.clear();
  frame.library_wrote = 0;
  return finish_call(std::move(result));
}

std::optional<ConcreteThread::Written> ConcreteThread::finish_library_access(std::span<const ConcreteByte> read) {
  Frame& frame = frames_.back();
  if (frame.library->state == LibraryCall::State::kNeedsByte) {
    // What is not known cannot be looked at; it is noticed when the call is continued.
    if (read.size() != 1 || read[0].unknown != 0) {
      frame.library->state = LibraryCall::State::kNotKnown;
    } else {
      frame.library_saw.push_back(read[0].value);
    }
    return std::nullopt;
  }
  ConcreteBytes bytes;
  for (const std::optional<std::uint8_t>& byte : frame.library->writes[frame.library_wrote++].bytes) {
    bytes.push_back(byte ? ConcreteByte{*byte, 0} : ConcreteByte{0, 0xff});
  }
  return Written{std::move(bytes), false};
}

}  // namespace sooth
