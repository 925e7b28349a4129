#include "recipe/judge/concrete_thread.h"

#include <algorithm>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "recipe/judge/concrete_arithmetic.h"

namespace sooth {
namespace {

using llvm::Instruction;

// Instructions without anything that the tape knows of. Only a loop that does nothing gets there.
constexpr std::uint64_t kMaxConcreteIdle = std::uint64_t{1} << 22;

// Local variables of functions that did not run in the recorded run.
constexpr std::uint64_t kConcreteLocals = std::uint64_t{0xf} << 60;
constexpr std::uint64_t kMaxLocal = 1 << 20;

// Of what an alloca or llvm.threadlocal.address is about; at least 1.
std::uint64_t size_of_variable(const Instruction& at, const llvm::DataLayout& layout) {
  std::optional<llvm::TypeSize> size;
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&at)) {
    size = local->getAllocationSize(layout);
  } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&at)) {
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(call->getArgOperand(0)->stripPointerCasts())) {
      size = layout.getTypeAllocSize(global->getValueType());
    }
  }
  return size && !size->isScalable() ? std::max<std::uint64_t>(size->getFixedValue(), 1) : 1;
}

}  // namespace

std::vector<ThreadTape> make_tapes(const TraceView& trace) {
  std::vector<ThreadTape> tapes;
  const auto tape = [&](ThreadId thread) -> ThreadTape& {
    if (raw(thread) >= tapes.size()) {
      tapes.resize(raw(thread) + std::size_t{1});
    }
    return tapes[raw(thread)];
  };
  for (std::size_t id = 0; id < trace.events.size(); ++id) {
    tape(trace.events[id].thread).events.push_back(static_cast<std::uint32_t>(id));
  }
  for (std::size_t i = 0; i < trace.deep.size(); ++i) {
    // A thread without events does nothing that others can see.
    if (raw(trace.deep[i].thread) < tapes.size()) {
      tape(trace.deep[i].thread).records.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return tapes;
}

ConcreteThread::ConcreteThread(const DeepProgram& program, ConcreteOps& ops, const TraceView& trace,
                               const ThreadTape& tape, CallLog& log, bool recording)
    : program_(program), ops_(ops), trace_(trace), tape_(tape), log_(log), recording_(recording) {}

// An access that is next may turn out to be another one than the tape has.
void ConcreteThread::allow_leaving() {
  if (!may_leave_ && step_ && step_->kind == ConcreteStep::Kind::kAccess) {
    step_.reset();
  }
  may_leave_ = true;
}

bool ConcreteThread::is_passive(Op op) {
  return op == Op::kEnter || op == Op::kExit || op == Op::kBegin || op == Op::kEnd || op == Op::kMisuse;
}

// The next event that is not passive.
const Event* ConcreteThread::upcoming() {
  upcoming_ = std::max(upcoming_, next_event_);
  while (upcoming_ < tape_.events.size() && is_passive(trace_.events[tape_.events[upcoming_]].op)) {
    ++upcoming_;
  }
  return upcoming_ < tape_.events.size() ? &trace_.events[tape_.events[upcoming_]] : nullptr;
}

// The record that comes before the next event.
const DeepRecord* ConcreteThread::due_record() {
  if (left_at_ != nullptr || next_record_ == tape_.records.size()) {
    return nullptr;
  }
  const DeepRecord& record = trace_.deep[tape_.records[next_record_]];
  const bool due = upcoming() == nullptr || raw(record.before) <= tape_.events[upcoming_];
  return due ? &record : nullptr;
}

const DeepRecord* ConcreteThread::take_record(DeepKind kind) {
  const DeepRecord* record = due_record();
  if (record == nullptr || record->kind != kind) {
    return nullptr;
  }
  ++next_record_;
  spent_ = 0;
  return record;
}

std::optional<ConcreteBytes> ConcreteThread::take_words(std::uint64_t bytes) {
  std::vector<std::uint64_t> words;
  while (words.size() * 8 < bytes) {
    const DeepRecord* record = take_record(DeepKind::kWord);
    if (record == nullptr) {
      return std::nullopt;
    }
    words.push_back(record->value);
  }
  return from_words(words, bytes);
}

ConcreteStep ConcreteThread::stuck(std::string why) const {
  ConcreteStep step;
  step.why = std::move(why);
  return step;
}

std::string ConcreteThread::place_text(const Instruction& at) const { return program_.site(at).label; }

const Concrete* ConcreteThread::operand(const llvm::Value* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    return ops_.constant(frames_.back().module, *constant);
  }
  const auto found = frames_.back().values.find(value);
  return found != frames_.back().values.end() ? &found->second : nullptr;
}

// Of an integer or pointer that is known.
std::optional<std::uint64_t> ConcreteThread::number(const llvm::Value* value) {
  const Concrete* concrete = operand(value);
  if (concrete == nullptr || concrete->size() != 1 || !(*concrete)[0].is_known() ||
      (*concrete)[0].bits.getActiveBits() > 64) {
    return std::nullopt;
  }
  return (*concrete)[0].bits.getZExtValue();
}

void ConcreteThread::define(const Instruction& at, Concrete value) { frames_.back().values[&at] = std::move(value); }

bool ConcreteThread::note(const Concrete& value) {
  if (recording_) {
    log_.insert(log_.end(), value.begin(), value.end());
    return true;
  }
  bool same = true;
  for (const Scalar& scalar : value) {
    same = same && log_position_ < log_.size() && log_[log_position_] == scalar;
    ++log_position_;
  }
  return same;
}

const ConcreteStep& ConcreteThread::next() {
  while (!step_) {
    step_ = advance();
  }
  return *step_;
}

ConcreteThread::Step ConcreteThread::advance() {
  if (frames_.empty() || frames_.back().open || frames_.back().unwinding) {
    return outside_step();
  }
  return code_step();
}

ConcreteThread::Step ConcreteThread::code_step() {
  const Instruction& at = *frames_.back().at;
  if (++spent_ > kMaxConcreteIdle) {
    return stuck("the code at " + place_text(at) + " goes on and on without an access");
  }
  switch (at.getOpcode()) {
    case Instruction::Load:
    case Instruction::Store:
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
    case Instruction::Fence: return access(at);
    case Instruction::Br:
    case Instruction::Switch: return branch(at);
    case Instruction::Alloca: return take_address(at);
    case Instruction::Call:
    case Instruction::Invoke: return call(llvm::cast<llvm::CallBase>(at));
    case Instruction::Ret: return leave(at);
    case Instruction::Resume: return resume(at);
    default: return compute(at);
  }
}

ConcreteThread::Step ConcreteThread::compute(const Instruction& at) {
  const TypeShape* shape = ops_.shape(frames_.back().module, at.getType());
  if (at.isTerminator() || shape == nullptr) {
    return stuck(std::string("the instruction ") + at.getOpcodeName() + " at " + place_text(at) + " is not modelled");
  }
  llvm::SmallVector<const Concrete*, 4> operands;
  for (const llvm::Use& use : at.operands()) {
    operands.push_back(operand(use.get()));
  }
  std::optional<Concrete> value;
  if (!llvm::is_contained(operands, nullptr)) {
    value = ops_.apply(frames_.back().module, *llvm::cast<llvm::Operator>(&at), operands);
  }
  if (!value && !trusted()) {
    return stuck(std::string("what the instruction ") + at.getOpcodeName() + " at " + place_text(at) +
                 " computes now is not known");
  }
  define(at, value ? std::move(*value) : nothing_known(*shape));
  ++frames_.back().at;
  return {};
}

// What comes on the tape though no instruction asks for it: a signal handler, or an event that is no access.
std::optional<ConcreteThread::Step> ConcreteThread::interruption() {
  if (left_at_ != nullptr) {
    return std::nullopt;
  }
  const DeepRecord* record = due_record();
  if (record != nullptr && record->kind == DeepKind::kEnter) {
    ++next_record_;
    spent_ = 0;
    return enter(*record, nullptr, Entry::kForeign);
  }
  if (record != nullptr || upcoming() == nullptr) {
    return std::nullopt;
  }
  const Op op = upcoming()->op;
  if (is_access(op) || op == Op::kFence) {
    return std::nullopt;
  }
  ConcreteStep step;
  step.kind = ConcreteStep::Kind::kForeign;
  return Step(step);
}

// A fence has an event or, when the optimiser found it useless, none.
ConcreteThread::Step ConcreteThread::fence(const Instruction& at) {
  const bool on_tape =
      left_at_ == nullptr && due_record() == nullptr && upcoming() != nullptr && upcoming()->op == Op::kFence;
  if (!on_tape) {
    ++frames_.back().at;
    return {};
  }
  ConcreteStep step;
  step.kind = ConcreteStep::Kind::kFence;
  step.op = Op::kFence;
  step.at = &at;
  return step;
}

// Registers of the machine and the like.
ConcreteThread::Step ConcreteThread::access_outside_tape(const Instruction& at, const TypeShape& shape, Op op) {
  if (op == Op::kRead && trusted()) {
    define(at, nothing_known(shape));
  } else if (op != Op::kWrite || !trusted()) {
    return stuck("the address space of the access at " + place_text(at) + " is not modelled");
  }
  ++frames_.back().at;
  return {};
}

// It has an event only when it changes something.
ConcreteThread::Step ConcreteThread::store_vtable(const Instruction& at) {
  Frame& frame = frames_.back();
  const DeepRecord* record = take_record(DeepKind::kBranch);
  if (record == nullptr) {
    if (std::optional<Step> other = interruption()) {
      return *std::move(other);
    }
    return stuck("the record does not say whether the pointer to virtual functions changes at " + place_text(at));
  }
  if (record->value != 0) {
    frame.stores_vtable = true;
    return {};
  }
  if (!trusted()) {
    return stuck("whether the pointer to virtual functions at " + place_text(at) + " changes now is not known");
  }
  ++frame.at;
  return {};
}

ConcreteThread::Step ConcreteThread::access(const Instruction& at) {
  const EventRule rule = event_rule(at);
  if (at.getOpcode() == Instruction::Fence) {
    return fence(at);
  }
  ConcreteStep step;
  step.at = &at;
  step.kind = ConcreteStep::Kind::kAccess;
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&at);
  llvm::Type* type = nullptr;
  if (const auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
    step.op = Op::kAtomicRmw;
    pointer = rmw->getPointerOperand();
    type = rmw->getValOperand()->getType();
  } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
    step.op = Op::kAtomicRmw;
    pointer = exchange->getPointerOperand();
    type = exchange->getCompareOperand()->getType();
  } else if (at.getOpcode() == Instruction::Load) {
    step.op = at.isAtomic() ? Op::kAtomicLoad : Op::kRead;
    type = at.getType();
  } else {
    step.op = at.isAtomic() ? Op::kAtomicStore : Op::kWrite;
    type = at.getOperand(0)->getType();
  }
  const TypeShape* shape = ops_.shape(frames_.back().module, type);
  if (shape == nullptr || !shape->in_memory || shape->bytes == 0) {
    return stuck("the type of the access at " + place_text(at) + " is not modelled");
  }
  step.size = shape->bytes;
  if (rule == EventRule::kNone) {
    return access_outside_tape(at, *shape, step.op);
  }
  step.address = number(pointer);
  if (!step.address && !trusted()) {
    return stuck("the address of the access at " + place_text(at) + " is not known now");
  }
  if (rule == EventRule::kVtable && left_at_ == nullptr && !frames_.back().stores_vtable) {
    return store_vtable(at);
  }
  leave_elsewhere(step);
  if (std::optional<Step> other = interruption()) {
    return *std::move(other);
  }
  if (due_record() != nullptr) {
    return stuck("a record stands in front of the access at " + place_text(at));
  }
  return step;
}

// An access elsewhere than in the recorded run: from here on it goes where values lead.
void ConcreteThread::leave_elsewhere(const ConcreteStep& step) {
  if (may_leave_ && left_at_ == nullptr && step.address && due_record() == nullptr && upcoming() != nullptr &&
      is_access(upcoming()->op) && upcoming()->object != *step.address) {
    left_at_ = step.at;
  }
}

void ConcreteThread::leave_by_outcome(const ConcreteStep& step, std::span<const ConcreteByte> read) {
  if (may_leave_ && left_at_ == nullptr && step.kind == ConcreteStep::Kind::kAccess && upcoming() != nullptr &&
      llvm::isa_and_nonnull<llvm::AtomicCmpXchgInst>(step.at)) {
    const std::optional<Op> now = outcome(step, read, upcoming()->op);
    left_at_ = now && *now != upcoming()->op ? step.at : nullptr;
  }
}

std::optional<Op> ConcreteThread::outcome(const ConcreteStep& step, std::span<const ConcreteByte> read, Op recorded) {
  const auto* exchange = llvm::dyn_cast_or_null<llvm::AtomicCmpXchgInst>(step.at);
  if (exchange == nullptr) {
    return recorded;
  }
  const Concrete* expected = operand(exchange->getCompareOperand());
  const TypeShape* shape = ops_.shape(frames_.back().module, exchange->getCompareOperand()->getType());
  if (expected == nullptr || shape == nullptr || read.size() < shape->bytes) {
    return std::nullopt;
  }
  const Scalar equal = compare_integers(llvm::CmpInst::ICMP_EQ, (*expected)[0], from_bytes(*shape, read)[0]);
  if (!equal.is_known()) {
    return std::nullopt;
  }
  return equal.bits.isZero() ? Op::kAtomicLoad : Op::kAtomicRmw;
}

// What it writes has a value in the trace, or is compared with what it was in the recorded run.
ConcreteThread::Written ConcreteThread::write(ConcreteBytes bytes) {
  if (left_at_ != nullptr) {
    return {std::move(bytes), false};
  }
  const std::uint32_t event = tape_.events[next_event_ - 1];
  if (trace_.events[event].op != Op::kAtomicRmw && !trace_.values.empty() &&
      trace_.values[event].size >= bytes.size()) {
    return {std::move(bytes), false};
  }
  Scalar all{llvm::APInt(static_cast<unsigned>(8 * bytes.size()), 0),
             llvm::APInt(static_cast<unsigned>(8 * bytes.size()), 0)};
  for (unsigned i = 0; i < bytes.size(); ++i) {
    all.bits.insertBits(bytes[i].value, 8 * i, 8);
    all.unknown.insertBits(bytes[i].unknown, 8 * i, 8);
  }
  const bool same = note(Concrete(1, std::move(all)));
  return {std::move(bytes), same};
}

ConcreteThread::Written ConcreteThread::modify(const Instruction& at, std::span<const ConcreteByte> read) {
  Frame& frame = frames_.back();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
    const TypeShape* shape = ops_.shape(frame.module, exchange->getNewValOperand()->getType());
    const Concrete* value = operand(exchange->getNewValOperand());
    return write(to_bytes(*shape, value != nullptr ? *value : nothing_known(*shape)));
  }
  const auto& rmw = llvm::cast<llvm::AtomicRMWInst>(at);
  const TypeShape* shape = ops_.shape(frame.module, rmw.getValOperand()->getType());
  const Scalar old = from_bytes(*shape, read)[0];
  const Concrete* by = operand(rmw.getValOperand());
  const Scalar value = by != nullptr ? (*by)[0] : Scalar::nothing_known(old.width());
  const llvm::Type& type = *rmw.getValOperand()->getType();
  const auto either = [&](llvm::Intrinsic::ID id) { return integer_intrinsic(id, {&old, &value}); };
  std::optional<Scalar> result;
  switch (rmw.getOperation()) {
    case llvm::AtomicRMWInst::Xchg: result = value; break;
    case llvm::AtomicRMWInst::Add: result = integer_operation(Instruction::Add, old, value); break;
    case llvm::AtomicRMWInst::Sub: result = integer_operation(Instruction::Sub, old, value); break;
    case llvm::AtomicRMWInst::And: result = integer_operation(Instruction::And, old, value); break;
    case llvm::AtomicRMWInst::Or: result = integer_operation(Instruction::Or, old, value); break;
    case llvm::AtomicRMWInst::Xor: result = integer_operation(Instruction::Xor, old, value); break;
    case llvm::AtomicRMWInst::Nand: {
      const Scalar both = *integer_operation(Instruction::And, old, value);
      result = integer_operation(Instruction::Xor, both, Scalar::known(llvm::APInt::getAllOnes(both.width())));
      break;
    }
    case llvm::AtomicRMWInst::Max: result = either(llvm::Intrinsic::smax); break;
    case llvm::AtomicRMWInst::Min: result = either(llvm::Intrinsic::smin); break;
    case llvm::AtomicRMWInst::UMax: result = either(llvm::Intrinsic::umax); break;
    case llvm::AtomicRMWInst::UMin: result = either(llvm::Intrinsic::umin); break;
    case llvm::AtomicRMWInst::FAdd: result = float_operation(Instruction::FAdd, type, old, value); break;
    case llvm::AtomicRMWInst::FSub: result = float_operation(Instruction::FSub, type, old, value); break;
    default: break;
  }
  return write(to_bytes(*shape, Concrete(1, result ? *result : Scalar::nothing_known(old.width()))));
}

std::optional<ConcreteThread::Written> ConcreteThread::finish(std::span<const ConcreteByte> read, Op done) {
  const Instruction& at = *step_->at;
  Frame& frame = frames_.back();
  spent_ = 0;
  const std::uint64_t size = step_->size;
  const Op op = step_->op;
  step_.reset();
  if (frame.library) {
    return finish_library_access(read);
  }
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&at); copy != nullptr && op == Op::kRead) {
    frame.copied.emplace(read.begin(), read.end());
    return std::nullopt;
  }
  std::optional<Written> written;
  frame.length.reset();
  frame.stores_vtable = false;
  if (llvm::isa<llvm::MemTransferInst>(at)) {
    written = Written{std::move(*frame.copied), false};
    frame.copied.reset();
  } else if (const auto* set = llvm::dyn_cast<llvm::MemSetInst>(&at)) {
    const Concrete* value = operand(set->getValue());
    const Scalar byte = value != nullptr ? (*value)[0] : Scalar::nothing_known(8);
    const ConcreteByte each{static_cast<std::uint8_t>(byte.bits.getZExtValue()),
                            static_cast<std::uint8_t>(byte.unknown.getZExtValue())};
    written = Written{ConcreteBytes(size, each), left_at_ == nullptr && note(Concrete(1, byte))};
  } else if (const auto* start = llvm::dyn_cast<llvm::CallBase>(&at)) {
    // Beside the path, where it may as well succeed: it returns 0, and the thread need not have done anything yet.
    const std::uint64_t bits = start->getType()->getIntegerBitWidth();
    step_ = finish_call(Concrete(1, Scalar::known(llvm::APInt(static_cast<unsigned>(bits), 0))));
    return Written{ConcreteBytes(size, ConcreteByte{0, 0xff}), false};
  } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
    const TypeShape* shape = ops_.shape(frame.module, store->getValueOperand()->getType());
    const Concrete* value = operand(store->getValueOperand());
    written = write(to_bytes(*shape, value != nullptr ? *value : nothing_known(*shape)));
  } else if (llvm::isa<llvm::LoadInst>(at)) {
    define(at, from_bytes(*ops_.shape(frame.module, at.getType()), read));
  } else {
    const ConcreteBytes unknown(size, ConcreteByte{0, 0xff});
    read = read.empty() ? std::span<const ConcreteByte>(unknown) : read;
    if (is_write(done)) {
      written = modify(at, read);
    }
    const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at);
    llvm::Type* type = exchange != nullptr ? exchange->getCompareOperand()->getType() : at.getType();
    Concrete result = from_bytes(*ops_.shape(frame.module, type), read);
    if (exchange != nullptr) {
      result.push_back(Scalar::truth(done == Op::kAtomicRmw));
    }
    define(at, std::move(result));
  }
  ++frame.at;
  return written;
}

void ConcreteThread::finish() {
  const ConcreteStep step = std::move(*step_);
  step_.reset();
  spent_ = 0;
  if (step.kind == ConcreteStep::Kind::kFence) {
    ++frames_.back().at;
  } else if (step.kind == ConcreteStep::Kind::kAcquire || step.kind == ConcreteStep::Kind::kRelease) {
    // A mutex that can be had is had: the call returns 0.
    step_ = finish_call(Concrete(1, Scalar::known(llvm::APInt(32, 0))));
  }
}

// The address of an alloca, or of a thread's own variable.
ConcreteThread::Step ConcreteThread::take_address(const Instruction& at) {
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&at); local != nullptr && left_at_ != nullptr) {
    // Beside the tape it is anywhere where nobody else has memory. Of a variable in a loop there is more than one.
    const std::optional<llvm::TypeSize> size = local->getAllocationSize(ops_.layout(frames_.back().module));
    const std::uint64_t thread = tape_.events.empty() ? 0 : raw(trace_.events[tape_.events[0]].thread);
    const std::uint64_t number = program_.number(at);
    if (size && !size->isScalable() && size->getFixedValue() <= kMaxLocal && number < (1u << 20) &&
        thread < (1u << 11) && !frames_.back().values.contains(&at)) {
      const std::uint64_t address =
          kConcreteLocals + (thread << 49) + (std::uint64_t{frames_.size() % 512} << 40) + (number << 20);
      define(at, Concrete(1, Scalar::known(llvm::APInt(64, address))));
      ++frames_.back().at;
      return {};
    }
  }
  const DeepRecord* record = take_record(DeepKind::kAddress);
  if (record == nullptr) {
    if (std::optional<Step> other = interruption()) {
      return *std::move(other);
    }
    return stuck(left_at_ != nullptr ? "the address of the local variable at " + place_text(at) +
                                           " is not known beside the recorded path"
                                     : "the record has no address for " + place_text(at));
  }
  if (observer_ != nullptr) {
    observer_->variable(record->value, size_of_variable(at, ops_.layout(frames_.back().module)));
  }
  define(at, Concrete(1, Scalar::known(llvm::APInt(64, record->value))));
  ++frames_.back().at;
  return {};
}

// Where values lead; nothing when they are not known.
std::optional<std::uint32_t> ConcreteThread::successor(const Instruction& branch) {
  const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&branch);
  const auto* jump = llvm::dyn_cast<llvm::BranchInst>(&branch);
  const Concrete* value = operand(choice != nullptr ? choice->getCondition() : jump->getCondition());
  if (value == nullptr || value->size() != 1 || !(*value)[0].is_known()) {
    return std::nullopt;
  }
  const llvm::APInt& bits = (*value)[0].bits;
  if (choice == nullptr) {
    return bits.isZero() ? 1 : 0;
  }
  for (const auto& each : choice->cases()) {
    if (each.getCaseValue()->getValue() == bits) {
      return each.getSuccessorIndex();
    }
  }
  return 0;
}

ConcreteThread::Step ConcreteThread::branch(const Instruction& at) {
  if (const auto* jump = llvm::dyn_cast<llvm::BranchInst>(&at); jump != nullptr && jump->isUnconditional()) {
    return go_to(*jump->getSuccessor(0));
  }
  const std::optional<std::uint32_t> computed = successor(at);
  if (left_at_ == nullptr) {
    const DeepRecord* record = take_record(DeepKind::kBranch);
    if (std::optional<Step> other = record == nullptr ? interruption() : std::nullopt) {
      return *std::move(other);
    }
    if (record != nullptr && record->value >= at.getNumSuccessors()) {
      return stuck("the record of the branch at " + place_text(at) + " names a successor that there is none of");
    }
    const bool same = record != nullptr && (computed ? *computed == record->value : trusted());
    if (same) {
      return go_to(*at.getSuccessor(static_cast<unsigned>(record->value)));
    }
    if (record == nullptr && !may_leave_) {
      return stuck("the record has no outcome of the branch at " + place_text(at));
    }
    if (computed && !may_leave_) {
      return stuck("the branch at " + place_text(at) + " goes another way than in the recorded run");
    }
    left_at_ = &at;
  }
  if (!computed) {
    return stuck("the branch at " + place_text(at) + " depends on something that is not known");
  }
  return go_to(*at.getSuccessor(*computed));
}

// All phi nodes at once.
ConcreteThread::Step ConcreteThread::go_to(const llvm::BasicBlock& to) {
  Frame& frame = frames_.back();
  const llvm::BasicBlock* from = frame.at->getParent();
  std::vector<std::pair<const llvm::PHINode*, Concrete>> values;
  for (const llvm::PHINode& phi : to.phis()) {
    const int incoming = phi.getBasicBlockIndex(from);
    const Concrete* value = incoming < 0 ? nullptr : operand(phi.getIncomingValue(static_cast<unsigned>(incoming)));
    const TypeShape* shape = ops_.shape(frame.module, phi.getType());
    if (shape == nullptr || (value == nullptr && !trusted())) {
      return stuck("a value at " + place_text(phi) + " is not modelled");
    }
    values.emplace_back(&phi, value != nullptr ? *value : nothing_known(*shape));
  }
  for (auto& [phi, value] : values) {
    frame.values[phi] = std::move(value);
  }
  frame.at = to.getFirstNonPHIIt();
  return {};
}

}  // namespace sooth
