// The part of ConcreteThread that is about calls: those whose callee is executed, those that are not, and how functions
// end. concrete_calls_beside.cc has those beside the recorded path.
#include <algorithm>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "recipe/judge/callee.h"
#include "recipe/judge/concrete_thread.h"

namespace sooth {
namespace {

// Functions that decide nothing by what the program keeps in memory, apart from what has events: they are about
// threads, locks, blocks of memory, exceptions and time, or write something out.
constexpr llvm::StringLiteral kBlindFamilies[] = {"pthread_",       "sem_",
                                                  "__cxa_",         "_Unwind_",
                                                  "_Znw",           "_Zna",
                                                  "_Zdl",           "_Zda",
                                                  "_ZNSt6thread",   "_ZNSt18condition_variable",
                                                  "_ZNSo",          "_ZStls",
                                                  "_ZSt4endl",      "_ZSt16__ostream_insert",
                                                  "_ZSt20__throw_", "_ZSt9terminate"};
constexpr llvm::StringLiteral kBlind[] = {
    "malloc",  "calloc",    "free",   "aligned_alloc", "posix_memalign", "sched_yield",   "usleep",
    "sleep",   "nanosleep", "exit",   "_exit",         "abort",          "__assert_fail", "__errno_location",
    "putchar", "puts",      "printf", "fprintf",       "fflush",         "fputs",         "fputc",
    "rand",    "time",      "clock"};

bool is_blind(const llvm::CallBase& call) {
  if (call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory()) {
    return true;
  }
  const llvm::Function* callee = named_callee(call);
  const llvm::StringRef name = callee != nullptr ? callee->getName() : llvm::StringRef();
  return llvm::is_contained(kBlind, name) ||
         llvm::any_of(kBlindFamilies, [&](llvm::StringRef family) { return name.starts_with(family); });
}

}  // namespace

// In code that is not deep: before the thread's first function, in a call, or where an exception has gone to.
ConcreteThread::Step ConcreteThread::outside_step() {
  if (left_at_ != nullptr) {
    return stuck("it goes back to code that is not recorded, beside the recorded path");
  }
  if (const DeepRecord* record = due_record()) {
    ++next_record_;
    spent_ = 0;
    switch (record->kind) {
      case DeepKind::kEnter: return enter(*record, nullptr, Entry::kForeign);
      case DeepKind::kReturn: return returned(*record);
      case DeepKind::kLanded: return landed(*record);
      case DeepKind::kWord: return {};  // of a read whose code is not executed
      case DeepKind::kAddress:
      case DeepKind::kBranch: break;
    }
    return stuck(
        "a record of its code stands where none can be" +
        (frames_.empty() || frames_.back().calls == nullptr
             ? std::string()
             : ": in the call of " + callee_text(*frames_.back().calls) + " at " + place_text(*frames_.back().calls)));
  }
  ConcreteStep step;
  if (next_event_ == tape_.events.size()) {
    step.kind = ConcreteStep::Kind::kEnd;
  } else {
    step.kind = ConcreteStep::Kind::kForeign;
  }
  return step;
}

ConcreteThread::Step ConcreteThread::call(const llvm::CallBase& call) {
  if (llvm::isa<llvm::IntrinsicInst>(call)) {
    return intrinsic(call);
  }
  frames_.back().calls = &call;
  if (left_at_ != nullptr) {
    return call_beside_tape(call);
  }
  if (!program_.is_followed(call)) {
    return open_call(call);
  }
  const DeepProgram::Place place = program_.place(*named_callee(call));
  const DeepRecord* record = due_record();
  const bool enters = record != nullptr && record->kind == DeepKind::kEnter && record->module == place.module &&
                      record->function == program_.function_number(*place.function);
  if (enters) {
    ++next_record_;
    spent_ = 0;
    return push(place, &call, Entry::kFollowed);
  }
  if (std::optional<Step> other = interruption()) {
    return *std::move(other);
  }
  return stuck("the record does not enter " + callee_text(call) + ", which is called at " + place_text(call));
}

ConcreteThread::Step ConcreteThread::intrinsic(const llvm::CallBase& call) {
  if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
    return copy(*memory);
  }
  if (call.getIntrinsicID() == llvm::Intrinsic::threadlocal_address) {
    return take_address(call);
  }
  if (call.getIntrinsicID() == llvm::Intrinsic::eh_typeid_for && left_at_ != nullptr) {
    return number_of_type(call);
  }
  const auto& intrinsic = llvm::cast<llvm::IntrinsicInst>(call);
  llvm::SmallVector<const Concrete*, 4> operands;
  const Concrete none;
  for (const llvm::Use& use : intrinsic.args()) {
    const Concrete* value = use->getType()->isMetadataTy() ? &none : operand(use.get());
    operands.push_back(value);
  }
  const TypeShape* shape = ops_.shape(frames_.back().module, call.getType());
  std::optional<Concrete> value;
  if (!llvm::is_contained(operands, nullptr)) {
    value = ops_.intrinsic(frames_.back().module, intrinsic, operands);
  }
  const bool harmless = llvm::isa<llvm::DbgInfoIntrinsic>(call) || trusted();
  if (!value && (shape == nullptr || !harmless)) {
    return stuck(callee_text(call) + " at " + place_text(call) + " is not modelled");
  }
  if (!call.getType()->isVoidTy()) {
    define(call, value ? std::move(*value) : nothing_known(*shape));
  }
  // Intrinsics can be invoked, too.
  frames_.back().calls = &call;
  return finish_call(std::nullopt);
}

ConcreteThread::Step ConcreteThread::copy(const llvm::MemIntrinsic& call) {
  Frame& frame = frames_.back();
  if (!frame.length) {
    std::optional<std::uint64_t> length = number(call.getLength());
    if (left_at_ == nullptr && !llvm::isa<llvm::ConstantInt>(call.getLength())) {
      const DeepRecord* record = take_record(DeepKind::kWord);
      if (record == nullptr) {
        std::optional<Step> other = interruption();
        return other ? *std::move(other) : stuck("the record has no length of the copy at " + place_text(call));
      }
      if (length && *length != record->value && may_leave_) {
        left_at_ = &call;
      } else if (length ? *length != record->value : !trusted()) {
        return stuck("the copy at " + place_text(call) + " has another length than in the recorded run");
      }
      length = left_at_ == nullptr ? record->value : length;
    }
    if (!length) {
      return stuck("the length of the copy at " + place_text(call) + " is not known");
    }
    if (*length == 0) {
      ++frame.at;
      return {};
    }
    frame.length = length;
  }
  ConcreteStep step;
  step.kind = ConcreteStep::Kind::kAccess;
  step.at = &call;
  step.size = *frame.length;
  const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&call);
  const bool reads = transfer != nullptr && !frame.copied;
  step.op = reads ? Op::kRead : Op::kWrite;
  step.address = number(reads ? transfer->getSource() : call.getDest());
  if (!step.address && !trusted()) {
    return stuck("the address of the copy at " + place_text(call) + " is not known now");
  }
  leave_elsewhere(step);
  if (std::optional<Step> other = interruption()) {
    return *std::move(other);
  }
  return step;
}

// Whether the called function is this definition.
bool ConcreteThread::is_target(const llvm::CallBase& call, const llvm::Function& function) {
  const auto is_same = [&](const llvm::Function& callee) {
    return &callee == &function ||
           (!callee.hasLocalLinkage() && !function.hasLocalLinkage() && callee.getName() == function.getName());
  };
  if (const llvm::Function* callee = named_callee(call)) {
    return is_same(*callee) && call.arg_size() >= function.arg_size();
  }
  const std::optional<std::uint64_t> address = number(call.getCalledOperand());
  const std::optional<DeepProgram::Place> place = address ? program_.function_at(*address) : std::nullopt;
  return place && is_same(*place->function) && call.arg_size() >= function.arg_size();
}

// What the call hands over from the argument number `from` on is what it was in the recorded run.
bool ConcreteThread::note_arguments(const llvm::CallBase& call, unsigned from) {
  bool same = true;
  for (unsigned i = from; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    if (argument->getType()->isMetadataTy()) {
      continue;
    }
    const Concrete* value = operand(argument);
    same = (value != nullptr ? note(*value) : trusted()) && same;
    same = same && (!call.isByValArgument(i) || trusted());
  }
  return same;
}

// What it sees in memory beyond its arguments must be as recorded, too.
std::string ConcreteThread::ask_guard(const llvm::CallBase& call) {
  if (is_blind(call) || trusted() || recording_ || !memory_guard_) {
    return "";
  }
  std::vector<std::uint64_t> pointers;
  for (const llvm::Use& argument : call.args()) {
    const std::optional<std::uint64_t> address =
        argument->getType()->isPointerTy() ? number(argument.get()) : std::nullopt;
    if (address) {
      pointers.push_back(*address);
    }
  }
  return memory_guard_(pointers);
}

RunObserver::Position ConcreteThread::where() const {
  const std::uint32_t thread = tape_.events.empty() ? 0 : raw(trace_.events[tape_.events[0]].thread);
  return {thread, next_event_, next_record_};
}

// What is known of the arguments from number `from` on, as far as they are words.
void ConcreteThread::add_words(const llvm::CallBase& call, unsigned from, std::vector<std::uint64_t>& words) {
  for (unsigned i = from; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    const Concrete* value = argument->getType()->isMetadataTy() ? nullptr : operand(argument);
    for (std::size_t leaf = 0; value != nullptr && leaf < value->size(); ++leaf) {
      if ((*value)[leaf].width() == 64 && (*value)[leaf].is_known()) {
        words.push_back((*value)[leaf].bits.getZExtValue());
      }
    }
  }
}

void ConcreteThread::tell_call(const llvm::CallBase& call) {
  if (observer_ == nullptr || is_blind(call)) {
    return;
  }
  std::vector<std::uint64_t> words;
  add_words(call, 0, words);
  // A va_list leads there, and what is in one leaves no event.
  for (const Frame& frame : frames_) {
    words.insert(words.end(), frame.further.begin(), frame.further.end());
  }
  observer_->call_begins(where(), frames_.size(), call, words);
}

ConcreteThread::Step ConcreteThread::open_call(const llvm::CallBase& call) {
  if (named_callee(call) == nullptr && !call.isInlineAsm()) {
    const Concrete* callee = operand(call.getCalledOperand());
    const bool differs = callee == nullptr ? !trusted() : !note(*callee);
    if (differs && may_leave_ && number(call.getCalledOperand())) {
      left_at_ = &call;
      return call_beside_tape(call);
    }
    if (differs) {
      return stuck("the call at " + place_text(call) + " calls something else than in the recorded run");
    }
  }
  const DeepRecord* record = due_record();
  if (record != nullptr && record->kind == DeepKind::kEnter) {
    const llvm::Function* entered = program_.function(record->module, record->function);
    if (entered != nullptr && is_target(call, *entered)) {
      ++next_record_;
      spent_ = 0;
      frames_.back().open = true;
      return enter(*record, &call, Entry::kDirect);
    }
  }
  const bool are_same = note_arguments(call, 0);
  if (std::optional<Concrete> result = real_function(call)) {
    frames_.back().direct_result = std::move(result);
    frames_.back().open = true;
    return {};
  }
  const std::string why_not = are_same ? ask_guard(call) : "";
  if ((!are_same || !why_not.empty()) && may_leave_) {
    left_at_ = &call;
    return call_beside_tape(call);
  }
  if (!are_same) {
    return stuck("the call of " + callee_text(call) + " at " + place_text(call) +
                 " has other arguments than in the recorded run");
  }
  if (!why_not.empty()) {
    return stuck("the call of " + callee_text(call) + " at " + place_text(call) + " may see " + why_not);
  }
  tell_call(call);
  frames_.back().open = true;
  return {};
}

std::optional<DeepProgram::Place> ConcreteThread::definition(const llvm::Function& function) {
  const bool here = !function.isDeclaration() &&
                    (function.hasExactDefinition() || function.hasLinkOnceODRLinkage() || function.hasWeakODRLinkage());
  const std::optional<DeepProgram::Place> place =
      here ? std::optional(program_.place(function)) : ops_.definition(function.getName());
  return place && program_.is_recorded(*place->function) ? place : std::nullopt;
}

// The definition that a call leads to; nothing when that is not deep code.
std::optional<DeepProgram::Place> ConcreteThread::target(const llvm::CallBase& call) {
  std::optional<DeepProgram::Place> place;
  if (const llvm::Function* callee = named_callee(call)) {
    return definition(*callee);
  }
  if (const std::optional<std::uint64_t> address = number(call.getCalledOperand())) {
    place = program_.function_at(*address);
  }
  return place && program_.is_recorded(*place->function) ? place : std::nullopt;
}

ConcreteThread::Step ConcreteThread::enter(const DeepRecord& record, const llvm::CallBase* call, Entry entry) {
  const llvm::Function* function = program_.function(record.module, record.function);
  if (function == nullptr) {
    return stuck("its record enters a function that the program does not have");
  }
  return push({record.module, function}, call, entry);
}

ConcreteThread::Step ConcreteThread::push(DeepProgram::Place place, const llvm::CallBase* call, Entry entry) {
  const llvm::Function& function = *place.function;
  Frame frame;
  frame.module = place.module;
  frame.function = &function;
  frame.entry = entry;
  frame.at = function.getEntryBlock().begin();
  if (observer_ != nullptr && call != nullptr) {
    add_words(*call, static_cast<unsigned>(function.arg_size()), frame.further);
  }
  if (call != nullptr && call->arg_size() > function.arg_size() &&
      (left_at_ != nullptr || !note_arguments(*call, static_cast<unsigned>(function.arg_size())))) {
    return stuck("the further arguments of the call at " + place_text(*call) + " are others than in the recorded run");
  }
  const bool exported = !function.hasLocalLinkage() || function.hasAddressTaken();
  for (const llvm::Argument& argument : function.args()) {
    const TypeShape* shape = ops_.shape(place.module, argument.getType());
    if (shape == nullptr) {
      return stuck("an argument of " + function.getName().str() + " is not modelled");
    }
    std::optional<Concrete> told;
    const bool recorded = left_at_ == nullptr && (exported || argument.hasByValAttr());
    if (recorded && !(told = take_value(argument.getType(), place.module, std::nullopt))) {
      return stuck("the record lacks arguments of " + function.getName().str());
    }
    const Concrete* given = call != nullptr ? operand(call->getArgOperand(argument.getArgNo())) : nullptr;
    if (given != nullptr &&
        (given->size() != shape->leaves.size() || (!given->empty() && (*given)[0].width() != shape->leaves[0].bits))) {
      return stuck("the call at " + place_text(*call) + " and " + function.getName().str() + " do not fit together");
    }
    // The copy of what is passed by value has no events: it is what it was only when everything is.
    if (argument.hasByValAttr() && !trusted()) {
      return stuck("an argument of " + function.getName().str() + " is copied where nothing is recorded");
    }
    const bool use_given = given != nullptr && !argument.hasByValAttr() && !(trusted() && told);
    if (!use_given && !told && call != nullptr && !trusted()) {
      return stuck("an argument of " + function.getName().str() + " is not known now");
    }
    frame.values[&argument] = use_given ? *given : told ? std::move(*told) : nothing_known(*shape);
  }
  frames_.push_back(std::move(frame));
  return {};
}

// A value that the record has in words; `first` is the first of them when it came with another record.
std::optional<Concrete> ConcreteThread::take_value(llvm::Type* type, std::uint32_t module,
                                                   std::optional<std::uint64_t> first) {
  const TypeShape* shape = ops_.shape(module, type);
  if (shape == nullptr || !shape->in_memory) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> words;
  if (first) {
    words.push_back(*first);
  }
  while (words.size() * 8 < shape->bytes) {
    const DeepRecord* record = take_record(DeepKind::kWord);
    if (record == nullptr) {
      return std::nullopt;
    }
    words.push_back(record->value);
  }
  return from_bytes(*shape, from_words(words, shape->bytes));
}

ConcreteThread::Step ConcreteThread::leave(const llvm::Instruction& at) {
  Concrete value;
  if (at.getNumOperands() != 0) {
    const Concrete* result = operand(at.getOperand(0));
    const TypeShape* shape = ops_.shape(frames_.back().module, at.getOperand(0)->getType());
    if (shape == nullptr || (result == nullptr && !trusted())) {
      return stuck("what is returned at " + place_text(at) + " is not modelled");
    }
    value = result != nullptr ? *result : nothing_known(*shape);
  }
  const Entry entry = frames_.back().entry;
  if (entry == Entry::kForeign) {
    if (left_at_ != nullptr) {
      return stuck("it returns to code that is not recorded at " + place_text(at));
    }
    if (!note(value)) {
      return stuck("what is returned at " + place_text(at) + " to code that is not recorded is not what it was");
    }
  }
  frames_.pop_back();
  if (entry == Entry::kFollowed || (entry == Entry::kDirect && left_at_ != nullptr)) {
    return finish_call(std::move(value));
  }
  if (entry == Entry::kDirect) {
    frames_.back().direct_result = std::move(value);
  }
  return {};
}

// The call that the innermost function is in has returned.
ConcreteThread::Step ConcreteThread::finish_call(std::optional<Concrete> result) {
  Frame& frame = frames_.back();
  const llvm::CallBase& call = *frame.calls;
  const TypeShape* shape = ops_.shape(frame.module, call.getType());
  if (result && !call.getType()->isVoidTy()) {
    if (shape == nullptr || result->size() != shape->leaves.size()) {
      return stuck("the result of the call at " + place_text(call) + " is not modelled");
    }
    define(call, std::move(*result));
  }
  frame.calls = nullptr;
  frame.open = false;
  frame.direct_result.reset();
  if (const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
    return go_to(*invoke->getNormalDest());
  }
  ++frame.at;
  return {};
}

// Functions above the one whose call returns were left by exceptions that somebody outside has caught.
ConcreteThread::Step ConcreteThread::returned(const DeepRecord& record) {
  const auto is_here = [&](const Frame& frame) {
    return frame.open && !frame.unwinding && record.module == frame.module &&
           record.function == program_.function_number(*frame.function) && record.id == program_.number(*frame.calls);
  };
  while (!frames_.empty() && !is_here(frames_.back())) {
    frames_.pop_back();
  }
  if (frames_.empty()) {
    return stuck("a call returns, by its record, that it is not in");
  }
  if (observer_ != nullptr) {
    observer_->calls_end(where(), frames_.size());
  }
  Frame& frame = frames_.back();
  std::optional<Concrete> result = Concrete();
  if (!frame.calls->getType()->isVoidTy()) {
    result = take_value(frame.calls->getType(), frame.module, record.value);
  }
  if (!result) {
    return stuck("the record lacks the result of the call at " + place_text(*frame.calls));
  }
  if (frame.direct_result && !trusted()) {
    result = std::move(frame.direct_result);
  }
  return finish_call(std::move(result));
}

}  // namespace sooth
