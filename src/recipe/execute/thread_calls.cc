// How ThreadExecutor follows calls: into code with IR, and past code without.
#include <algorithm>
#include <iterator>

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "base/ids.h"
#include "recipe/execute/thread_executor.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

constexpr std::uint64_t kVaListBytes = 24;  // x86-64

std::size_t words_of(const Layout& layout) { return (layout.bytes + 7) / 8; }

// They read no memory that the program has written, or nothing that they do with it comes back.
constexpr llvm::StringLiteral kHarmless[] = {
    "malloc",
    "free",
    "calloc",
    "aligned_alloc",
    "posix_memalign",
    "_Znwm",
    "_Znam",
    "_ZnwmSt11align_val_t",
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdaPv",
    "_ZdaPvm",
    "_ZdlPvmSt11align_val_t",
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "pthread_create",
    "pthread_join",
    "pthread_detach",
    "pthread_self",
    "pthread_exit",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "pthread_barrier_destroy",
    "pthread_once",
    "sem_init",
    "sem_post",
    "sem_wait",
    "sem_destroy",
    "sched_yield",
    "usleep",
    "sleep",
    "nanosleep",
    "exit",
    "_exit",
    "abort",
    "__assert_fail",
    "__cxa_allocate_exception",
    "__cxa_free_exception",
    "__cxa_throw",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_rethrow",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__cxa_guard_abort",
    "__cxa_atexit",
    "_Unwind_Resume",
    "__errno_location",
    "putchar",
    "rand",
    "time",
    "_ZNSt6thread4joinEv",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
    "_ZNSt6thread20hardware_concurrencyEv",
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
    "_ZNSt18condition_variable10notify_oneEv",
    "_ZNSt18condition_variable10notify_allEv",
    "_ZSt20__throw_system_errori"};

}  // namespace

bool leaves_memory_alone(const llvm::CallBase& call) {
  if (call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory()) {
    return true;
  }
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr &&
         std::find(std::begin(kHarmless), std::end(kHarmless), callee->getName()) != std::end(kHarmless);
}

bool ThreadExecutor::call(const llvm::CallBase& call, const Step& step, Cell* result) {
  const CodeFrame& frame = frames_.back();
  const Operands operands(*frame.code, step, cells_.data() + frame.base);
  if (call.getIntrinsicID() != llvm::Intrinsic::not_intrinsic) {
    if (!intrinsic(call, operands, result)) {
      return false;
    }
    if (call.isTerminator()) {
      after_call();
    }
    return true;
  }
  if (x_.code.program().is_followed(call)) {
    const FunctionCode& code =
        x_.code.function(*llvm::cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts()));
    return enter(code, &call);
  }
  if (!llvm::isa<llvm::Function>(call.getCalledOperand()->stripPointerCasts()) && !call.isInlineAsm()) {
    explore_others(call, *operands[call.getNumOperands() - 1]);
  }
  frames_.push_back({});
  return true;
}

bool ThreadExecutor::intrinsic(const llvm::CallBase& call, const Operands& operands, Cell* result) {
  if (llvm::isa<llvm::MemTransferInst, llvm::MemSetInst>(call)) {
    return move_bytes(call, operands);
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::threadlocal_address: {
      const DeepRecord* address = take(DeepKind::kAddress);
      if (address == nullptr) {
        return false;
      }
      *result = {address->value, kNoExpr};
      return true;
    }
    case llvm::Intrinsic::vastart:
    case llvm::Intrinsic::vacopy:
      if (is_known(*operands[0])) {
        memory_.forget(operands[0]->bits, kVaListBytes);
      }
      return true;
    case llvm::Intrinsic::vaend: return true;
    case llvm::Intrinsic::trap:
    case llvm::Intrinsic::debugtrap: return ran_out("a trap");
    default: break;
  }
  if (arithmetic_.compute_intrinsic(call, operands, result, *this)) {
    return true;
  }
  // What it does to memory is not known either, but what thread and trace say of memory later is.
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    arithmetic_.pin(
        std::span(operands[i], x_.code.layout(*call.getModule(), call.getArgOperand(i)->getType()).leaves.size()),
        Why::kNotModelled, *this);
  }
  if (call.mayReadOrWriteMemory()) {
    memory_.make_all_constant(table_, [&](ExprId expr, std::uint64_t value) {
      arithmetic_.pin(Cell{value, expr}, Why::kNotModelled, *this);
    });
  }
  std::fill_n(result, x_.code.layout(*call.getModule(), call.getType()).leaves.size(), Cell{0, kUnknownExpr});
  return true;
}

const llvm::CallBase* ThreadExecutor::pending_call() const {
  if (frames_.size() < 2 || frames_[frames_.size() - 2].code == nullptr) {
    return nullptr;
  }
  const CodeFrame& caller = frames_[frames_.size() - 2];
  return llvm::dyn_cast<llvm::CallBase>(caller.code->steps[caller.pc].instruction);
}

bool ThreadExecutor::is_target(const llvm::CallBase& call, const FunctionCode& code) {
  const llvm::Value* callee = call.getCalledOperand()->stripPointerCasts();
  if (const auto* function = llvm::dyn_cast<llvm::Function>(callee)) {
    return function == code.function ||
           (function->getName() == code.function->getName() && !code.function->hasLocalLinkage());
  }
  const CodeFrame& caller = frames_[frames_.size() - 2];
  const Step& step = caller.code->steps[caller.pc];
  const Operands operands(*caller.code, step, cells_.data() + caller.base);
  const Cell& address = *operands[call.getNumOperands() - 1];
  const std::optional<std::uint64_t> wanted = x_.code.program().address(code.module, *code.function);
  return is_known(address) && wanted && address.bits == *wanted;
}

// Whoever gets them knows nothing of expressions.
void ThreadExecutor::pin_call() {
  CodeFrame& frame = frames_.back();
  const llvm::CallBase* call = pending_call();
  if (frame.is_pinned || call == nullptr) {
    return;
  }
  frame.is_pinned = true;
  ++out_.coverage.opaque_calls;
  const CodeFrame& caller = frames_[frames_.size() - 2];
  const Operands operands(*caller.code, caller.code->steps[caller.pc], cells_.data() + caller.base);
  for (unsigned i = 0; i < call->getNumOperands(); ++i) {
    arithmetic_.pin(
        std::span(operands[i], x_.code.layout(*call->getModule(), call->getOperand(i)->getType()).leaves.size()),
        Why::kOpaque, *this);
  }
  if (!leaves_memory_alone(*call)) {
    memory_.make_all_constant(table_, [&](ExprId expr, std::uint64_t value) {
      arithmetic_.pin(Cell{value, expr}, Why::kOpaque, *this);
    });
  }
}

bool ThreadExecutor::without_ir() {
  const DeepRecord* record = peek();
  if (record == nullptr) {
    pin_call();
    pass_over(static_cast<std::uint32_t>(events_.size()));
    return stop("");
  }
  const std::uint32_t position = record_position_[next_record_];
  switch (record->kind) {
    case DeepKind::kEnter: {
      const FunctionCode* code = x_.code.function(record->module, record->function);
      if (code == nullptr) {
        return stop("a record names a function that does not exist");
      }
      const llvm::CallBase* call = pending_call();
      const bool is_passage = call != nullptr && !frames_.back().is_pinned && !frames_.back().is_passage &&
                              is_target(*call, *code) &&
                              std::none_of(events_.begin() + next_, events_.begin() + position,
                                           [&](EventIndex e) { return is_access(x_.index.event(e).op); });
      if (frames_.back().is_passage) {
        return stop("a function is entered that nobody has called");
      }
      frames_.back().is_passage = is_passage;
      if (!is_passage) {
        pin_call();
      } else if (!llvm::isa<llvm::Function>(call->getCalledOperand()->stripPointerCasts())) {
        const CodeFrame& caller = frames_[frames_.size() - 2];
        const Operands operands(*caller.code, caller.code->steps[caller.pc], cells_.data() + caller.base);
        arithmetic_.pin(*operands[call->getNumOperands() - 1], Why::kBranch, *this);
      }
      pass_over(position);
      return enter(*code, is_passage ? call : nullptr);
    }
    case DeepKind::kReturn: return returned(*record);
    case DeepKind::kLanded:
      if (!frames_.back().is_passage) {
        pin_call();
      }
      return land();
    case DeepKind::kWord:  // of a read without a value
      pin_call();
      pass_over(position);
      ++next_record_;
      return true;
    case DeepKind::kAddress:
    case DeepKind::kBranch: break;
  }
  return stop("code without IR has made a record");
}

// The call below the top frame is over.
bool ThreadExecutor::returned(const DeepRecord& record) {
  // Frames above it were left by an exception that code without IR has caught.
  const auto is_caller = [&](const CodeFrame& frame) {
    return frame.code != nullptr && frame.code->module == record.module && frame.code->number == record.function &&
           frame.pc == record.id;
  };
  std::size_t depth = frames_.size();
  while (depth > 1 && !(frames_[depth - 1].code == nullptr && is_caller(frames_[depth - 2]))) {
    --depth;
  }
  if (depth <= 1) {
    return stop("a call returns that is not pending");
  }
  frames_.resize(depth);
  const CodeFrame* caller = &frames_[depth - 2];
  cells_.resize(caller->base + caller->code->cells);
  const llvm::CallBase* call = pending_call();
  if (call == nullptr) {
    return stop("something returns that is no call");
  }
  const bool is_passage = frames_.back().is_passage;
  const bool is_exact = !frames_.back().is_pinned && Arithmetic::is_exact_function(*call);
  if (!is_passage && !is_exact) {
    pin_call();
  }
  pass_over(record_position_[next_record_]);
  ++next_record_;
  const Layout& layout = x_.code.layout(*call->getModule(), call->getType());
  std::vector<std::uint64_t> words;
  if (words_of(layout) > 1 && !take_words(words_of(layout) - 1, words)) {
    return false;
  }
  words.insert(words.begin(), record.value);
  std::vector<Byte> bytes(layout.bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = {kNoExpr, 0, static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8))), true};
  }
  Cell* result = cells_.data() + caller->base + caller->code->steps[caller->pc].result;
  to_cells(layout, bytes, result);
  if (is_passage && returned_.size() == layout.leaves.size()) {
    for (std::size_t i = 0; i < returned_.size(); ++i) {
      if (is_symbolic(returned_[i]) && returned_[i].bits != result[i].bits) {
        return stop("a function returns another value than the record says");
      }
      result[i] = is_known(returned_[i]) ? returned_[i] : result[i];
    }
  }
  if (is_exact && !is_passage) {
    const Operands operands(*caller->code, caller->code->steps[caller->pc], cells_.data() + caller->base);
    Cell computed;
    if (arithmetic_.exact_function(*call, operands, &computed, *this) && computed.bits == result->bits) {
      *result = computed;
    } else {
      pin_call();
    }
  }
  frames_.pop_back();
  after_call();
  return true;
}

void ThreadExecutor::after_call() {
  CodeFrame& frame = frames_.back();
  const llvm::Instruction& call = *frame.code->steps[frame.pc].instruction;
  if (const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
    enter_block(*invoke->getParent(), *invoke->getNormalDest());
  } else {
    ++frame.pc;
  }
}

// `call`, when there is one, is of the innermost frame with code.
bool ThreadExecutor::enter(const FunctionCode& code, const llvm::CallBase* call) {
  const DeepRecord* record = take(DeepKind::kEnter);
  if (record == nullptr) {
    return false;
  }
  if (record->module != code.module || record->function != code.number) {
    return stop("another function is entered than the one that is called");
  }
  const std::uint32_t caller =
      call == nullptr ? 0 : static_cast<std::uint32_t>(frames_.size()) - (frames_.back().code == nullptr ? 2 : 1);
  const auto base = static_cast<std::uint32_t>(cells_.size());
  cells_.resize(base + code.cells);
  if (!give_arguments(code, call, caller, base)) {
    return false;
  }
  frames_.push_back({.code = &code, .base = base});
  if (detours_ != nullptr) {
    executed_.insert(&code.function->getEntryBlock());
  }
  return check_arguments(code, base);
}

bool ThreadExecutor::give_arguments(const FunctionCode& code, const llvm::CallBase* call, std::uint32_t caller,
                                    std::uint32_t base) {
  const auto leaves = [&](llvm::Type* type) { return x_.code.layout(*code.function->getParent(), type).leaves.size(); };
  if (call == nullptr) {
    std::fill(cells_.begin() + base, cells_.end(), Cell{0, kUnknownExpr});
    return true;
  }
  const CodeFrame& from = frames_[caller];
  const Operands operands(*from.code, from.code->steps[from.pc], cells_.data() + from.base);
  for (unsigned i = 0; i < call->arg_size(); ++i) {
    const std::size_t given = x_.code.layout(*call->getModule(), call->getArgOperand(i)->getType()).leaves.size();
    const bool fits = i < code.function->arg_size() && given == leaves(code.function->getArg(i)->getType());
    if (fits && !call->isByValArgument(i)) {
      std::copy_n(operands[i], given, cells_.data() + base + code.arguments[i]);
      continue;
    }
    arithmetic_.pin(std::span(operands[i], given), Why::kNotModelled, *this);
    if (call->isByValArgument(i) && is_known(*operands[i])) {  // the callee gets a copy at a place of its own
      const std::uint64_t size =
          call->getModule()->getDataLayout().getTypeAllocSize(call->getParamByValType(i)).getFixedValue();
      memory_.make_constant(table_, operands[i]->bits, size, [&](ExprId expr, std::uint64_t value) {
        arithmetic_.pin(Cell{value, expr}, Why::kNotModelled, *this);
      });
    }
    if (fits) {
      std::fill_n(cells_.data() + base + code.arguments[i], given, Cell{0, kUnknownExpr});
    }
  }
  return true;
}

// The words of the arguments follow the entry of functions that code outside may call.
bool ThreadExecutor::check_arguments(const FunctionCode& code, std::uint32_t base) {
  std::vector<std::uint64_t> words;
  std::vector<Cell> recorded;
  for (const llvm::Argument& argument : code.function->args()) {
    const Layout& layout = x_.code.layout(*code.function->getParent(), argument.getType());
    // A word behind an access is not one of them.
    if (peek() == nullptr || peek()->kind != DeepKind::kWord || record_position_[next_record_] != next_) {
      return true;
    }
    if (!take_words(words_of(layout), words)) {
      return false;
    }
    bytes_.resize(layout.bytes);
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = {kNoExpr, 0, static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8))), true};
    }
    recorded.resize(layout.leaves.size());
    to_cells(layout, bytes_, recorded.data());
    Cell* given = cells_.data() + base + code.arguments[argument.getArgNo()];
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (!is_known(given[i])) {
        given[i] = recorded[i];
      } else if (is_known(recorded[i]) && given[i].bits != recorded[i].bits) {
        return stop("a function gets another argument than the record says");
      }
    }
  }
  return true;
}

bool ThreadExecutor::leave(const llvm::ReturnInst& ret) {
  const CodeFrame frame = frames_.back();
  const std::size_t leaves = ret.getReturnValue() == nullptr
                                 ? 0
                                 : x_.code.layout(*ret.getModule(), ret.getReturnValue()->getType()).leaves.size();
  const Operands operands(*frame.code, frame.code->steps[frame.pc], cells_.data() + frame.base);
  const Cell* value = leaves == 0 ? nullptr : operands[0];
  CodeFrame& below = frames_[frames_.size() - 2];
  if (below.code != nullptr) {
    const Step& call = below.code->steps[below.pc];
    const std::size_t wanted =
        x_.code.layout(*call.instruction->getModule(), call.instruction->getType()).leaves.size();
    if (wanted == leaves) {
      std::copy_n(value, leaves, cells_.data() + below.base + call.result);
    }
  } else if (below.is_passage) {
    returned_.assign(value, value + leaves);
  } else {
    arithmetic_.pin(std::span(value, leaves), Why::kOpaque, *this);
  }
  frames_.pop_back();
  cells_.resize(frame.base);
  if (frames_.back().is_interruption) {
    frames_.pop_back();
  } else if (frames_.back().code != nullptr) {
    after_call();
  }
  return true;
}

}  // namespace sooth
