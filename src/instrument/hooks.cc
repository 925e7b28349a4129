#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

#include "instrument/pass.h"
#include "trace/recording/deep_format.h"

namespace sooth::deep {
namespace {

// What hooks are called. They are opaque to the optimiser, which must keep them and every store in front of them.
class Hooks {
 public:
  explicit Hooks(llvm::Module& module) : module_(module) {}

  llvm::FunctionCallee get(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters) {
    llvm::LLVMContext& context = module_.getContext();
    // Called again and again: not through a stub that finds them at the first call.
    llvm::AttributeList attributes = llvm::AttributeList()
                                         .addFnAttribute(context, llvm::Attribute::NoUnwind)
                                         .addFnAttribute(context, llvm::Attribute::NonLazyBind);
    return module_.getOrInsertFunction(name, llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false),
                                       attributes);
  }

 private:
  llvm::Module& module_;
};

// Both arms of a branch may end with the same access. Made one, it would stand on no line.
void keep_apart(llvm::CallInst* hook) { hook->addFnAttr(llvm::Attribute::NoMerge); }

bool has_own_hook(std::uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }

// Inserts in front of an instruction.
class Builder : public llvm::IRBuilder<> {
 public:
  Builder(llvm::Instruction& position, const llvm::DebugLoc& location) : llvm::IRBuilder<>(&position) {
    SetCurrentDebugLocation(location);
  }
};

// Adds the hooks of one function.
class FunctionHooks {
 public:
  FunctionHooks(llvm::Function& function, std::uint32_t number, const Numbering& numbering,
                llvm::GlobalVariable& descriptor)
      : function_(function),
        number_(number),
        numbering_(numbering),
        descriptor_(descriptor),
        layout_(function.getParent()->getDataLayout()),
        hooks_(*function.getParent()),
        deep_(!function.hasFnAttribute(kNotDeep)) {}

  void add() {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      all.push_back(&instruction);
    }
    for (llvm::Instruction* instruction : all) {
      add_accesses(*instruction);
    }
    if (!deep_) {
      return;
    }
    for (llvm::Instruction* instruction : all) {
      add_records(*instruction);
    }
    add_entry();
    forget_promises(function_);
    keep_calls_that_copy(function_);
    replace_transfers();
  }

 private:
  // Hooks stand where the instruction that they tell of stands in the source.
  Builder at(llvm::Instruction& position, const llvm::Instruction& of) const { return {position, location_of(of)}; }
  Builder behind(llvm::Instruction& of) const { return at(*of.getNextNode(), of); }

  llvm::DebugLoc location_of(const llvm::Instruction& of) const {
    if (of.getDebugLoc() || function_.getSubprogram() == nullptr) {
      return of.getDebugLoc();
    }
    return llvm::DILocation::get(function_.getContext(), 0, 0, function_.getSubprogram());
  }

  llvm::CallInst* call(Builder& builder, const char* name, std::vector<llvm::Value*> arguments) {
    arguments.insert(arguments.begin(), &descriptor_);
    std::vector<llvm::Type*> types;
    for (const llvm::Value* argument : arguments) {
      types.push_back(argument->getType());
    }
    return builder.CreateCall(hooks_.get(name, types), arguments);
  }

  void add_accesses(llvm::Instruction& instruction);
  void add_access(llvm::Instruction& instruction, llvm::Value& pointer, llvm::Type& type, const char* word);
  void add_records(llvm::Instruction& instruction);
  void add_call(llvm::CallBase& call_site);
  void add_switch(llvm::SwitchInst& jump);
  void add_entry();
  void settle(llvm::Instruction& position);
  void replace_transfers();
  static void forget_promises(llvm::Function& function);
  static void keep_calls_that_copy(llvm::Function& function);

  llvm::Value* word_of(Builder& builder, llvm::Value& value);
  llvm::Value* spill(Builder& builder, llvm::Value& value);
  void add_words(Builder& builder, llvm::Value& value);

  llvm::Function& function_;
  const std::uint32_t number_;
  const Numbering& numbering_;
  llvm::GlobalVariable& descriptor_;
  const llvm::DataLayout& layout_;
  Hooks hooks_;
  const bool deep_;
  std::vector<llvm::MemIntrinsic*> transfers_;
};

void FunctionHooks::add_access(llvm::Instruction& instruction, llvm::Value& pointer, llvm::Type& type,
                               const char* word) {
  if (pointer.getType()->getPointerAddressSpace() != 0) {
    return;
  }
  const std::uint64_t size = layout_.getTypeStoreSize(&type).getFixedValue();
  Builder builder = at(instruction, instruction);
  llvm::Type* address = builder.getPtrTy();
  if (size == 0) {
    return;
  }
  const std::string prefix = deep_ && size <= 8 ? "__sooth_deep_" : "__tsan_";
  llvm::CallInst* call =
      has_own_hook(size)
          ? builder.CreateCall(hooks_.get(prefix + word + std::to_string(size), {address}), {&pointer})
          : builder.CreateCall(hooks_.get("__tsan_" + std::string(word) + "_range", {address, builder.getInt64Ty()}),
                               {&pointer, builder.getInt64(size)});
  keep_apart(call);
}

// Of plain accesses: clang's own pass adds those of atomic ones.
void FunctionHooks::add_accesses(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load != nullptr && !load->isAtomic()) {
    add_access(*load, *load->getPointerOperand(), *load->getType(), "read");
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store != nullptr && !store->isAtomic()) {
    const llvm::MDNode* tag = store->getMetadata(llvm::LLVMContext::MD_tbaa);
    if (tag != nullptr && tag->isTBAAVtableAccess() && store->getValueOperand()->getType()->isPointerTy()) {
      Builder builder = at(*store, *store);
      llvm::Type* address = builder.getPtrTy();
      const std::vector<llvm::Value*> both = {store->getPointerOperand(), store->getValueOperand()};
      keep_apart(deep_ ? call(builder, "__sooth_deep_vptr", both)
                       : builder.CreateCall(hooks_.get("__tsan_vptr_update", {address, address}), both));
    } else {
      add_access(*store, *store->getPointerOperand(), *store->getValueOperand()->getType(), "write");
    }
  }
}

// The value as 64 bits, or nullptr when it is of another kind.
llvm::Value* FunctionHooks::word_of(Builder& builder, llvm::Value& value) {
  llvm::Type* type = value.getType();
  llvm::Type* word = builder.getInt64Ty();
  if (type->isPointerTy()) {
    return type->getPointerAddressSpace() == 0 ? builder.CreatePtrToInt(&value, word) : nullptr;
  }
  if (type->isIntegerTy()) {
    return type->getIntegerBitWidth() <= 64 ? builder.CreateZExt(&value, word) : nullptr;
  }
  if (type->isHalfTy() || type->isBFloatTy() || type->isFloatTy() || type->isDoubleTy()) {
    llvm::Type* bits = builder.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()));
    return builder.CreateZExt(builder.CreateBitCast(&value, bits), word);
  }
  return nullptr;
}

// Puts the value into memory of our own.
llvm::Value* FunctionHooks::spill(Builder& builder, llvm::Value& value) {
  Builder entry(*function_.getEntryBlock().getFirstInsertionPt(), {});
  llvm::AllocaInst* place = entry.CreateAlloca(value.getType());
  builder.CreateStore(&value, place);
  return place;
}

void FunctionHooks::add_words(Builder& builder, llvm::Value& value) {
  if (llvm::Value* word = word_of(builder, value)) {
    call(builder, "__sooth_deep_word", {word});
    return;
  }
  const std::uint64_t size = layout_.getTypeStoreSize(value.getType()).getFixedValue();
  if (size != 0) {
    call(builder, "__sooth_deep_words", {spill(builder, value), builder.getInt64(size)});
  }
}

void FunctionHooks::add_records(llvm::Instruction& instruction) {
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    Builder builder = behind(*variable);
    call(builder, "__sooth_deep_address", {variable});
    return;
  }
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (!load->isAtomic() && load->getPointerAddressSpace() == 0 &&
        !has_own_hook(layout_.getTypeStoreSize(load->getType()))) {
      Builder builder = behind(*load);
      add_words(builder, *load);
    }
  } else if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
             branch != nullptr && branch->isConditional()) {
    Builder builder = at(*branch, *branch);
    call(builder, "__sooth_deep_branch",
         {builder.CreateZExt(builder.CreateNot(branch->getCondition()), builder.getInt32Ty())});
  } else if (auto* jump = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
    add_switch(*jump);
  } else if (llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(instruction)) {
    settle(instruction);
  } else if (auto* landing = llvm::dyn_cast<llvm::LandingPadInst>(&instruction)) {
    Builder builder = at(*landing->getParent()->getFirstInsertionPt(), *landing);
    call(builder, "__sooth_deep_landed",
         {builder.getInt32(number_), builder.getInt32(numbering_.instructions.lookup(landing))});
  } else if (auto* call_site = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    add_call(*call_site);
  }
}

// A recording keeps of a write what the next hook finds. One that comes too late may find something else; and with none
// in front of its end, a local variable need not get its last value at all, so the optimiser would drop the store.
void FunctionHooks::settle(llvm::Instruction& position) {
  const auto* before = llvm::dyn_cast_or_null<llvm::CallInst>(position.getPrevNode());
  const bool settled =
      before != nullptr &&
      (before->isMustTailCall() ||
       (before->getCalledFunction() != nullptr && before->getCalledFunction()->getName().starts_with("__sooth_deep_")));
  if (!settled) {
    Builder builder = at(position, position);
    call(builder, "__sooth_deep_settle", {});
  }
}

// Each way out gets a block of its own that says its number.
void FunctionHooks::add_switch(llvm::SwitchInst& jump) {
  llvm::BasicBlock* from = jump.getParent();
  for (unsigned i = 0; i < jump.getNumSuccessors(); ++i) {
    llvm::BasicBlock* to = jump.getSuccessor(i);
    llvm::BasicBlock* between = llvm::BasicBlock::Create(function_.getContext(), "", &function_, to);
    Builder builder = at(*llvm::BranchInst::Create(to, between), jump);
    call(builder, "__sooth_deep_branch", {builder.getInt32(i)});
    jump.setSuccessor(i, between);
    // A block that several cases lead to has a value for each of them.
    for (llvm::PHINode& phi : to->phis()) {
      phi.setIncomingBlock(static_cast<unsigned>(phi.getBasicBlockIndex(from)), between);
    }
  }
}

void FunctionHooks::add_call(llvm::CallBase& call_site) {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call_site)) {
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::lifetime_end) {
      settle(*intrinsic);
    } else if (intrinsic->getIntrinsicID() == llvm::Intrinsic::threadlocal_address) {
      Builder builder = behind(*intrinsic);
      call(builder, "__sooth_deep_address", {intrinsic});
    } else if (auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(intrinsic)) {
      transfers_.push_back(transfer);
    }
    return;
  }
  const llvm::Function* callee = call_site.getCalledFunction();
  if (callee != nullptr && !callee->isDeclaration()) {
    // The callee has hooks now: that it touches no memory is not true any more.
    for (const auto kind :
         {llvm::Attribute::Memory, llvm::Attribute::WillReturn, llvm::Attribute::NoSync, llvm::Attribute::NoFree}) {
      call_site.removeFnAttr(kind);
    }
  }
  const bool followed = callee != nullptr && callee->hasExactDefinition() && !callee->hasFnAttribute(kNotDeep);
  if (followed || call_site.isMustTailCall()) {  // behind the latter stands its return, and nothing else may
    return;
  }
  // The callee may have no hooks, and change what was just written.
  settle(call_site);
  if (call_site.doesNotReturn()) {
    return;
  }
  llvm::Instruction* next = nullptr;
  if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call_site)) {
    // A block of its own on the normal way, which others may lead to, too.
    llvm::BasicBlock* to = invoke->getNormalDest();
    llvm::BasicBlock* between = llvm::BasicBlock::Create(function_.getContext(), "", &function_, to);
    next = llvm::BranchInst::Create(to, between);
    next->setDebugLoc(location_of(*invoke));
    invoke->setNormalDest(between);
    to->replacePhiUsesWith(invoke->getParent(), between);
  } else {
    next = call_site.getNextNode();
  }
  Builder builder = at(*next, call_site);
  const std::vector<llvm::Value*> where = {builder.getInt32(number_),
                                           builder.getInt32(numbering_.instructions.lookup(&call_site))};
  if (call_site.hasFnAttr(llvm::Attribute::ReturnsTwice)) {
    call(builder, "__sooth_deep_landed", where);
  }
  const std::uint64_t size =
      call_site.getType()->isVoidTy() ? 0 : layout_.getTypeStoreSize(call_site.getType()).getFixedValue();
  llvm::Value* first = size == 0 ? builder.getInt64(0) : word_of(builder, call_site);
  llvm::Value* memory = nullptr;
  if (first == nullptr) {
    // Whole words, of which the last may be longer than the value.
    memory = spill(builder, call_site);
    first = size >= 8
                ? static_cast<llvm::Value*>(builder.CreateAlignedLoad(builder.getInt64Ty(), memory, llvm::Align(1)))
                : builder.CreateZExt(builder.CreateAlignedLoad(builder.getIntNTy(static_cast<unsigned>(8 * size)),
                                                               memory, llvm::Align(1)),
                                     builder.getInt64Ty());
  }
  call(builder, "__sooth_deep_return", {where[0], where[1], first});
  if (memory != nullptr && size > 8) {
    call(builder, "__sooth_deep_words",
         {builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, 8), builder.getInt64(size - 8)});
  }
}

// Arguments of functions that only this module can call are known to whoever follows the call; not so copies that the
// call makes.
void FunctionHooks::add_entry() {
  const bool called_from_outside = !function_.hasLocalLinkage() || function_.hasAddressTaken();
  llvm::DISubprogram* subprogram = function_.getSubprogram();
  Builder builder(*function_.getEntryBlock().getFirstInsertionPt(),
                  subprogram == nullptr
                      ? nullptr
                      : llvm::DILocation::get(function_.getContext(), subprogram->getLine(), 0, subprogram));
  call(builder, "__sooth_deep_enter", {builder.getInt32(number_)});
  for (llvm::Argument& argument : function_.args()) {
    if (called_from_outside || argument.hasByValAttr()) {
      add_words(builder, argument);
    }
  }
}

// Promises of a function that touches no memory let the optimiser drop calls of it.
void FunctionHooks::forget_promises(llvm::Function& function) {
  for (const auto kind : {llvm::Attribute::Memory, llvm::Attribute::Speculatable, llvm::Attribute::WillReturn,
                          llvm::Attribute::NoSync, llvm::Attribute::NoFree, llvm::Attribute::NoCallback}) {
    function.removeFnAttr(kind);
  }
}

// What is passed by value is copied by the call, which nobody records. Inlined it would be a copy like others, which
// ThreadSanitizer's pass makes the run time library tell of, and the code that is kept does not have.
void FunctionHooks::keep_calls_that_copy(llvm::Function& function) {
  const bool copies = std::any_of(function.arg_begin(), function.arg_end(),
                                  [](const llvm::Argument& argument) { return argument.hasByValAttr(); });
  if (copies && !function.hasFnAttribute(llvm::Attribute::AlwaysInline)) {
    function.addFnAttr(llvm::Attribute::NoInline);
  }
}

// Copies and fills that are still there become calls that record what they touch: as intrinsics the optimiser could
// merge and drop them.
void FunctionHooks::replace_transfers() {
  for (llvm::MemIntrinsic* transfer : transfers_) {
    Builder builder = at(*transfer, *transfer);
    llvm::Type* address = builder.getPtrTy();
    llvm::Value* length = builder.CreateZExtOrTrunc(transfer->getLength(), builder.getInt64Ty());
    llvm::Module& module = *function_.getParent();
    if (!llvm::isa<llvm::ConstantInt>(length)) {
      call(builder, "__sooth_deep_word", {length});
    }
    if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(transfer)) {
      keep_apart(builder.CreateCall(
          module.getOrInsertFunction("__tsan_memset", address, address, builder.getInt32Ty(), builder.getInt64Ty()),
          {fill->getRawDest(), builder.CreateZExt(fill->getValue(), builder.getInt32Ty()), length}));
    } else {
      auto* copy = llvm::cast<llvm::MemTransferInst>(transfer);
      const char* name = llvm::isa<llvm::MemMoveInst>(copy) ? "__tsan_memmove" : "__tsan_memcpy";
      keep_apart(builder.CreateCall(module.getOrInsertFunction(name, address, address, address, builder.getInt64Ty()),
                                    {copy->getRawDest(), copy->getRawSource(), length}));
    }
    transfer->eraseFromParent();
  }
}

}  // namespace

void add_hooks(const Numbering& numbering, llvm::GlobalVariable& descriptor) {
  for (std::uint32_t i = 0; i < numbering.functions.size(); ++i) {
    if (is_instrumented(*numbering.functions[i])) {
      FunctionHooks(*numbering.functions[i], i, numbering, descriptor).add();
    }
  }
}

}  // namespace sooth::deep
