#include "deep/walk.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <optional>

namespace sooth {
namespace {

// What a thread left behind, in its order: events and deep records.
struct Step {
  const Event* event = nullptr;  // or
  const DeepRecord* record = nullptr;
  EventId id{};  // of the event
  bool has_value = false;
};

bool is_plain(Op op) { return op == Op::kRead || op == Op::kWrite; }

const char* kind_name(DeepKind kind) {
  switch (kind) {
    case DeepKind::kEnter: return "enter";
    case DeepKind::kWord: return "word";
    case DeepKind::kAddress: return "address";
    case DeepKind::kBranch: return "branch";
    case DeepKind::kReturn: return "return";
    case DeepKind::kLanded: return "landed";
  }
  return "?";
}

llvm::Type* accessed_type(const llvm::Instruction& instruction) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    return store->getValueOperand()->getType();
  }
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return exchange->getNewValOperand()->getType();
  }
  return instruction.getType();
}

// A run of a deep function. `next` is executed next, unless `waits` for what a call does.
struct Frame {
  std::uint32_t module = 0;
  const llvm::Function* function = nullptr;
  const llvm::Instruction* next = nullptr;
  const llvm::CallBase* waits = nullptr;  // the call that the frame is in
  bool from_outside = false;              // called by code that is not deep
};

class Walker {
 public:
  Walker(const DeepProgram& program, ThreadId thread, std::vector<Step> steps)
      : program_(program), steps_(std::move(steps)) {
    walk_.thread = thread;
  }

  ThreadWalk run() {
    while (walk_.stopped.empty() && at_ < steps_.size()) {
      if (frames_.empty() || frames_.back().waits != nullptr) {
        outside();
      } else {
        execute();
      }
    }
    walk_.unfinished = frames_.size();
    return std::move(walk_);
  }

 private:
  void stop(const std::string& why) {
    std::string where;
    if (!frames_.empty()) {
      const Frame& top = frames_.back();
      where = " in " + top.function->getName().str();
      if (const llvm::Instruction* instruction = top.waits != nullptr ? top.waits : top.next) {
        where += ", instruction " + std::to_string(program_.number(*instruction)) + " (" +
                 instruction->getOpcodeName() + ")";
      }
    }
    std::string found = "the end";
    if (at_ < steps_.size()) {
      const Step& step = steps_[at_];
      found = step.event != nullptr
                  ? "event " + std::to_string(raw(step.id)) + " (" + std::string(op_name(step.event->op)) + " of " +
                        std::to_string(step.event->size) + " bytes)"
                  : "record " + std::string(kind_name(step.record->kind));
    }
    walk_.stopped = why + where + ", but the trace has " + found;
  }

  const DeepRecord* record() const { return at_ < steps_.size() ? steps_[at_].record : nullptr; }
  const Event* event() const { return at_ < steps_.size() ? steps_[at_].event : nullptr; }
  void use_record() { ++at_, ++walk_.records; }

  // What is not deep does what it does until it calls, returns or throws.
  void outside();
  bool enter();
  void returned();
  void landed();
  // Code that a signal handler ran, and synchronisation between an access and its hook: everything that may come
  // anywhere.
  bool interruption();

  void execute();
  bool take(DeepKind kind, const char* what);
  bool take_words(std::uint64_t bytes);
  void access(const llvm::Instruction& instruction);
  void store_vtable(const llvm::Instruction& instruction);
  void transfer(const llvm::MemIntrinsic& instruction);
  bool range(Op op, std::uint64_t length);
  // Behind the instruction.
  void go_on(const llvm::Instruction& instruction);
  void step_call(const llvm::CallBase& call);
  bool begins(const llvm::Function& function) const {
    return record() != nullptr && record()->kind == DeepKind::kEnter &&
           program_.function(record()->module, record()->function) == &function;
  }
  void branch(const llvm::Instruction& terminator);
  void jump(const llvm::BasicBlock& block) { frames_.back().next = &block.front(); }
  void leave();
  std::uint64_t size_of(llvm::Type& type) const {
    return frames_.back().function->getParent()->getDataLayout().getTypeStoreSize(&type).getFixedValue();
  }

  const DeepProgram& program_;
  std::vector<Step> steps_;
  std::size_t at_ = 0;
  std::vector<Frame> frames_;
  bool vtable_changes_ = false;  // the record was there, the write of the same instruction is still to come
  std::size_t idle_since_ = 0;   // `at_` when an instruction was last executed, and how many since it changed
  std::size_t idle_ = 0;
  ThreadWalk walk_;
};

void Walker::go_on(const llvm::Instruction& instruction) {
  const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&instruction);
  frames_.back().next = invoke != nullptr ? &invoke->getNormalDest()->front() : instruction.getNextNode();
  frames_.back().waits = nullptr;
}

void Walker::outside() {
  if (const Event* found = event()) {
    const bool bare = (found->op == Op::kRead || is_atomic(found->op)) && !steps_[at_].has_value;
    ++walk_.outside;
    ++at_;
    // What a read outside saw that nobody can explain is of no use to anybody.
    if (bare && record() != nullptr && record()->kind == DeepKind::kWord) {
      (void)take_words(std::min<std::uint64_t>(found->size, 16));
    }
    return;
  }
  const DeepRecord& found = *record();
  switch (found.kind) {
    case DeepKind::kEnter: (void)enter(); return;
    case DeepKind::kReturn: return returned();
    case DeepKind::kLanded: return landed();
    case DeepKind::kWord:
    case DeepKind::kAddress:
    case DeepKind::kBranch: break;
  }
  stop("outside of deep code nothing is expected");
}

bool Walker::enter() {
  const DeepRecord& found = *record();
  const llvm::Function* function = program_.function(found.module, found.function);
  if (function == nullptr || !program_.is_recorded(*function)) {
    stop("a function begins that is not in the code");
    return false;
  }
  const llvm::CallBase* call = frames_.empty() ? nullptr : frames_.back().waits;
  const bool expected = call != nullptr && program_.is_followed(*call);
  use_record();
  ++walk_.calls;
  frames_.push_back({found.module, function, &function->getEntryBlock().front(), nullptr, !expected});
  const bool with_arguments = !function->hasLocalLinkage() || function->hasAddressTaken();
  for (const llvm::Argument& argument : function->args()) {
    if ((with_arguments || argument.hasByValAttr()) && !take_words(size_of(*argument.getType()))) {
      stop("the arguments of the function are expected");
      return false;
    }
  }
  return true;
}

// Frames above the one whose call returns were left by exceptions that somebody outside has caught.
void Walker::returned() {
  const DeepRecord& found = *record();
  while (!frames_.empty()) {
    const Frame& top = frames_.back();
    const bool is_here = top.waits != nullptr && !program_.is_followed(*top.waits) && top.module == found.module &&
                         program_.function_number(*top.function) == found.function &&
                         program_.number(*top.waits) == found.id;
    if (is_here) {
      break;
    }
    frames_.pop_back();
  }
  if (frames_.empty()) {
    return stop("no call of deep code is open that could return");
  }
  use_record();
  Frame& top = frames_.back();
  const std::uint64_t size = top.waits->getType()->isVoidTy() ? 0 : size_of(*top.waits->getType());
  if (size > 8 && !take_words(size - 8)) {
    return stop("the rest of the result is expected");
  }
  go_on(*top.waits);
}

void Walker::landed() {
  const DeepRecord& found = *record();
  const llvm::Instruction* target = program_.instruction({found.module, found.function, found.id});
  if (target == nullptr) {
    return stop("an exception lands where no code is");
  }
  const bool is_landingpad = llvm::isa<llvm::LandingPadInst>(target);
  while (!frames_.empty()) {
    const Frame& top = frames_.back();
    const auto* invoke = llvm::dyn_cast_or_null<llvm::InvokeInst>(top.waits);
    const bool lands = is_landingpad ? invoke != nullptr && invoke->getLandingPadInst() == target
                                     : top.function == target->getFunction();
    if (lands) {
      break;
    }
    frames_.pop_back();
  }
  if (frames_.empty()) {
    return stop("an exception lands in a function that is not running");
  }
  Frame& top = frames_.back();
  if (is_landingpad) {
    const auto* invoke = llvm::cast<llvm::InvokeInst>(top.waits);
    top.waits = nullptr;
    top.next = &invoke->getUnwindDest()->front();
    return;  // the landingpad itself takes the record
  }
  use_record();
  top.waits = llvm::cast<llvm::CallBase>(target);  // its kReturn follows
}

bool Walker::interruption() {
  if (record() != nullptr && record()->kind == DeepKind::kEnter) {
    return enter();
  }
  if (event() != nullptr && !is_plain(event()->op) && !is_atomic(event()->op) && event()->op != Op::kFence) {
    ++walk_.outside;
    ++at_;
    return true;
  }
  return false;
}

bool Walker::take(DeepKind kind, const char* what) {
  if (record() == nullptr || record()->kind != kind) {
    if (!interruption()) {
      stop(std::string(what) + " is expected");
    }
    return false;
  }
  use_record();
  return true;
}

bool Walker::take_words(std::uint64_t bytes) {
  for (; bytes != 0; bytes -= std::min<std::uint64_t>(bytes, 8)) {
    if (record() == nullptr || record()->kind != DeepKind::kWord) {
      return false;
    }
    use_record();
  }
  return true;
}

void Walker::access(const llvm::Instruction& instruction) {
  const bool atomic = event_rule(instruction) == EventRule::kAtomic;
  const bool writes = !llvm::isa<llvm::LoadInst>(instruction);
  const std::uint64_t size = size_of(*accessed_type(instruction));
  const Event* found = event();
  const bool fits = found != nullptr && found->size == size &&
                    (atomic ? is_atomic(found->op) : found->op == (writes ? Op::kWrite : Op::kRead));
  if (!fits) {
    if (!interruption()) {
      stop(std::string(atomic   ? "an atomic access"
                       : writes ? "a write"
                                : "a read") +
           " of " + std::to_string(size) + " bytes is expected");
    }
    return;
  }
  const bool has_value = steps_[at_].has_value;
  const bool reads = found->op == Op::kRead || found->op == Op::kAtomicLoad || found->op == Op::kAtomicRmw;
  ++at_;
  ++walk_.accesses;
  if (reads && !has_value && !take_words(size)) {
    return stop("the bytes that were read are expected");
  }
  go_on(instruction);
}

// The parts of a copy or a fill. False: they are not there.
bool Walker::range(Op op, std::uint64_t length) {
  constexpr std::uint64_t kPart = 1u << 30;
  for (; length != 0; length -= std::min(length, kPart)) {
    const std::uint64_t part = std::min(length, kPart);
    if (event() == nullptr || event()->op != op || event()->size != part) {
      return false;
    }
    const bool valued = part == 1 || part == 2 || part == 4 || part == 8 || part == 16;
    const bool words = op == Op::kRead && valued && !steps_[at_].has_value;
    ++at_;
    ++walk_.accesses;
    if (words && !take_words(part)) {
      return false;
    }
  }
  return true;
}

void Walker::transfer(const llvm::MemIntrinsic& instruction) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(instruction.getLength());
  const bool starts = constant == nullptr ? record() != nullptr && record()->kind == DeepKind::kWord
                                          : constant->isZero() || (event() != nullptr && is_plain(event()->op));
  if (!starts) {
    if (!interruption()) {
      stop("a copy or fill is expected");
    }
    return;
  }
  const std::uint64_t length = constant == nullptr ? record()->value : constant->getZExtValue();
  if (constant == nullptr) {
    use_record();
  }
  const bool reads = llvm::isa<llvm::MemTransferInst>(instruction);
  if ((reads && !range(Op::kRead, length)) || !range(Op::kWrite, length)) {
    return stop("a copy or fill of " + std::to_string(length) + " bytes is expected");
  }
  go_on(instruction);
}

void Walker::step_call(const llvm::CallBase& call) {
  Frame& top = frames_.back();
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::threadlocal_address) {
      if (!take(DeepKind::kAddress, "the address of a thread-local variable")) {
        return;
      }
    } else if (const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(intrinsic)) {
      return transfer(*copy);
    }
    return go_on(call);
  }
  if (program_.is_followed(call) && !begins(*call.getCalledFunction())) {
    if (!interruption()) {
      stop("the function that is called is expected to begin");
    }
    return;
  }
  top.waits = &call;
}

// The function returns to whoever called it.
void Walker::leave() {
  const bool from_outside = frames_.back().from_outside;
  frames_.pop_back();
  idle_ = 0;
  if (from_outside) {
    return;  // a call that waits goes on waiting
  }
  go_on(*frames_.back().waits);
}

void Walker::execute() {
  const llvm::Instruction& instruction = *frames_.back().next;
  ++walk_.instructions;
  // A function that goes on without leaving anything comes to its end soon.
  idle_ = at_ == idle_since_ ? idle_ + 1 : 0;  // leave() begins anew
  idle_since_ = at_;
  if (idle_ > program_.instructions(*frames_.back().function)) {
    return stop("something is expected of a loop");
  }
  switch (event_rule(instruction)) {
    case EventRule::kPlain:
    case EventRule::kAtomic: return access(instruction);
    case EventRule::kVtable: return store_vtable(instruction);
    case EventRule::kFence:
      if (event() != nullptr && event()->op == Op::kFence) {
        ++at_;
        ++walk_.accesses;
      }
      return go_on(instruction);
    case EventRule::kNone: break;
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    return step_call(*call);
  }
  if (instruction.isTerminator()) {
    return branch(instruction);
  }
  if (llvm::isa<llvm::AllocaInst>(instruction) && !take(DeepKind::kAddress, "the address of a variable")) {
    return;
  }
  if (llvm::isa<llvm::LandingPadInst>(instruction) && !take(DeepKind::kLanded, "that an exception has landed")) {
    return;
  }
  go_on(instruction);
}

void Walker::store_vtable(const llvm::Instruction& instruction) {
  if (!vtable_changes_) {
    const bool changes = record() != nullptr && record()->value != 0;
    if (!take(DeepKind::kBranch, "whether the pointer to virtual functions changes")) {
      return;
    }
    if (!changes) {
      return go_on(instruction);
    }
    vtable_changes_ = true;
  }
  const std::uint64_t before = walk_.accesses;
  access(instruction);
  vtable_changes_ = walk_.accesses == before;
}

void Walker::branch(const llvm::Instruction& terminator) {
  if (llvm::isa<llvm::ReturnInst>(terminator)) {
    return leave();
  }
  if (llvm::isa<llvm::ResumeInst>(terminator)) {
    frames_.pop_back();  // up to where it lands next
    return;
  }
  const unsigned ways = terminator.getNumSuccessors();
  if (ways == 1 && llvm::isa<llvm::BranchInst>(terminator)) {
    return jump(*terminator.getSuccessor(0));
  }
  if (ways == 0) {
    return stop("no way leads on");
  }
  const std::uint64_t successor = record() == nullptr ? 0 : record()->value;
  if (!take(DeepKind::kBranch, "a branch")) {
    return;
  }
  if (successor >= ways) {
    --at_;
    return stop("a branch has fewer ways");
  }
  jump(*terminator.getSuccessor(static_cast<unsigned>(successor)));
}

}  // namespace

std::vector<ThreadWalk> walk_threads(const DeepProgram& program, std::span<const Event> events,
                                     std::span<const Value> values, std::span<const DeepRecord> records) {
  std::map<ThreadId, std::vector<Step>> threads;
  for (const DeepRecord& record : records) {
    threads[record.thread];
  }
  std::size_t next = 0;
  const auto add_records = [&](std::size_t before) {
    for (; next < records.size() && raw(records[next].before) <= before; ++next) {
      threads[records[next].thread].push_back({nullptr, &records[next], {}, false});
    }
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    add_records(i);
    if (const auto thread = threads.find(events[i].thread); thread != threads.end()) {
      thread->second.push_back({&events[i], nullptr, EventId{i}, !values.empty() && values[i].size != 0});
    }
  }
  add_records(events.size());
  std::vector<ThreadWalk> walks;
  for (auto& [thread, steps] : threads) {
    walks.push_back(Walker(program, thread, std::move(steps)).run());
  }
  return walks;
}

}  // namespace sooth
