#include "deep/program.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/SourceMgr.h>

#include <unordered_map>
#include <utility>

#include "deep/admit.h"
#include "symbol/demangle.h"
#include "trace/recording/deep_file.h"
#include "trace/recording/deep_format.h"
#include "trace/recording/library_glue.h"

namespace sooth {
namespace {

struct FunctionTable {
  std::uint32_t module = 0;
  std::uint32_t number = 0;
  std::vector<const llvm::Instruction*> instructions;
};

struct ModuleTable {
  std::unique_ptr<llvm::Module> module;
  std::vector<const llvm::Function*> functions;
  llvm::DenseMap<const llvm::GlobalValue*, std::uint64_t> addresses;
};

std::string file_of(const llvm::DILocation& location) {
  const std::string name = location.getFilename().str();
  const std::string folder = location.getDirectory().str();
  return name.empty() || name.front() == '/' || folder.empty() ? name : folder + "/" + name;
}

}  // namespace

EventRule event_rule(const llvm::Instruction& instruction) {
  using Rmw = llvm::AtomicRMWInst;
  const auto atomic = [&](bool is_atomic) { return is_atomic ? EventRule::kAtomic : EventRule::kPlain; };
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const bool seen = load->getPointerAddressSpace() == 0 &&
                      !(load->isAtomic() && load->getSyncScopeID() == llvm::SyncScope::SingleThread);
    return seen ? atomic(load->isAtomic()) : EventRule::kNone;
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const bool seen = store->getPointerAddressSpace() == 0 &&
                      !(store->isAtomic() && store->getSyncScopeID() == llvm::SyncScope::SingleThread);
    const llvm::MDNode* tag = store->getMetadata(llvm::LLVMContext::MD_tbaa);
    const bool vtable = seen && !store->isAtomic() && tag != nullptr && tag->isTBAAVtableAccess() &&
                        store->getValueOperand()->getType()->isPointerTy();
    return vtable ? EventRule::kVtable : seen ? atomic(store->isAtomic()) : EventRule::kNone;
  }
  if (const auto* rmw = llvm::dyn_cast<Rmw>(&instruction)) {
    // What ThreadSanitizer's pass knows.
    const Rmw::BinOp op = rmw->getOperation();
    const bool known = op == Rmw::Xchg || op == Rmw::Add || op == Rmw::Sub || op == Rmw::And || op == Rmw::Or ||
                       op == Rmw::Xor || op == Rmw::Nand;
    return known && rmw->getSyncScopeID() != llvm::SyncScope::SingleThread ? EventRule::kAtomic : EventRule::kNone;
  }
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return exchange->getSyncScopeID() != llvm::SyncScope::SingleThread ? EventRule::kAtomic : EventRule::kNone;
  }
  return llvm::isa<llvm::FenceInst>(instruction) ? EventRule::kFence : EventRule::kNone;
}

struct DeepProgram::State {
  llvm::LLVMContext context;  // before the modules, which it outlives
  std::vector<ModuleTable> modules;
  llvm::DenseMap<const llvm::Function*, FunctionTable> functions;
  llvm::DenseMap<const llvm::Instruction*, std::uint32_t> numbers;
  std::unordered_map<std::uint64_t, Place> by_address;

  void add(std::unique_ptr<llvm::Module> module);
  void place(const llvm::GlobalValue& global, std::uint64_t address);
};

// Numbers everything; addresses come later.
void DeepProgram::State::add(std::unique_ptr<llvm::Module> module) {
  ModuleTable table;
  const auto module_number = static_cast<std::uint32_t>(modules.size());
  for (const llvm::Function& function : *module) {
    if (function.isDeclaration()) {
      continue;
    }
    FunctionTable& row = functions[&function];
    row.module = module_number;
    row.number = static_cast<std::uint32_t>(table.functions.size());
    table.functions.push_back(&function);
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!llvm::isa<llvm::DbgInfoIntrinsic>(instruction)) {
        numbers[&instruction] = static_cast<std::uint32_t>(row.instructions.size());
        row.instructions.push_back(&instruction);
      }
    }
  }
  table.module = std::move(module);
  modules.push_back(std::move(table));
}

// To the module that was added last.
void DeepProgram::State::place(const llvm::GlobalValue& global, std::uint64_t address) {
  modules.back().addresses[&global] = address;
  const auto* function = llvm::dyn_cast<llvm::Function>(&global);
  if (function != nullptr && !function->isDeclaration() && address != 0) {
    by_address.try_emplace(address, Place{static_cast<std::uint32_t>(modules.size() - 1), function});
  }
}

Result<DeepProgram> DeepProgram::parse(std::span<const DeepModuleText> modules) {
  auto state = std::make_unique<State>();
  for (const DeepModuleText& text : modules) {
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> module =
        llvm::parseAssembly(llvm::MemoryBufferRef(text.text, "module"), diagnostic, state->context);
    const std::string where = "module " + std::to_string(state->modules.size());
    if (module == nullptr) {
      return Status::bad_input(where + ": line " + std::to_string(diagnostic.getLineNo()) + ": " +
                               diagnostic.getMessage().str());
    }
    state->add(std::move(module));
    for (const auto& [name, address] : text.addresses) {
      const llvm::GlobalValue* global = state->modules.back().module->getNamedValue(name);
      if (global == nullptr) {
        return Status::bad_input(where + ": it has no global @" + name);
      }
      state->place(*global, address);
    }
  }
  return DeepProgram(std::move(state));
}

Result<DeepProgram> DeepProgram::load(const std::string& recording) {
  const Result<DeepFile> file = DeepFile::read(recording);
  if (!file.ok()) {
    return file.status();
  }
  if (Status admitted = admit(file->modules()); !admitted.ok()) {
    return std::move(admitted).prefixed(file->path());
  }
  auto state = std::make_unique<State>();
  for (const KeptModule& kept : file->modules()) {
    const std::string where = file->path() + ": module " + std::to_string(state->modules.size()) + ": ";
    if (kept.bitcode.empty()) {
      state->add(std::make_unique<llvm::Module>("unloaded", state->context));
      continue;
    }
    llvm::Expected<std::unique_ptr<llvm::Module>> module = parse_admitted(kept, state->context);
    if (!module) {
      return Status::bad_input(where + llvm::toString(module.takeError()));
    }
    const llvm::NamedMDNode* placed = (*module)->getNamedMetadata(deep::kPlacedGlobals);
    const std::size_t count = placed == nullptr ? 0 : placed->getNumOperands();
    if (count != kept.addresses.size()) {
      return Status::bad_input(where + "it has " + std::to_string(count) + " globals, but " +
                               std::to_string(kept.addresses.size()) + " addresses");
    }
    state->add(std::move(*module));
    for (std::size_t i = 0; i < count; ++i) {
      const llvm::MDNode* row = placed->getOperand(static_cast<unsigned>(i));
      const auto* value =
          row->getNumOperands() == 1 ? llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(row->getOperand(0)) : nullptr;
      const auto* global = value == nullptr ? nullptr : llvm::dyn_cast<llvm::GlobalValue>(value->getValue());
      if (global != nullptr) {
        state->place(*global, kept.addresses[i]);
      }
    }
  }
  return DeepProgram(std::move(state));
}

DeepProgram::DeepProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeepProgram::DeepProgram(DeepProgram&&) noexcept = default;
DeepProgram& DeepProgram::operator=(DeepProgram&&) noexcept = default;
DeepProgram::~DeepProgram() = default;

std::size_t DeepProgram::modules() const { return state_->modules.size(); }

const llvm::Module& DeepProgram::module(std::uint32_t module) const { return *state_->modules[module].module; }

std::uint32_t DeepProgram::functions(std::uint32_t module) const {
  return module < modules() ? static_cast<std::uint32_t>(state_->modules[module].functions.size()) : 0;
}

const llvm::Function* DeepProgram::function(std::uint32_t module, std::uint32_t number) const {
  return number < functions(module) ? state_->modules[module].functions[number] : nullptr;
}

DeepProgram::Place DeepProgram::place(const llvm::Function& function) const {
  const auto row = state_->functions.find(&function);
  return row == state_->functions.end() ? Place{} : Place{row->second.module, &function};
}

std::uint32_t DeepProgram::function_number(const llvm::Function& function) const {
  const auto row = state_->functions.find(&function);
  return row == state_->functions.end() ? 0 : row->second.number;
}

std::size_t DeepProgram::instructions(const llvm::Function& function) const {
  const auto row = state_->functions.find(&function);
  return row == state_->functions.end() ? 0 : row->second.instructions.size();
}

const llvm::Instruction* DeepProgram::instruction(const llvm::Function& function, std::uint32_t number) const {
  const auto row = state_->functions.find(&function);
  return row == state_->functions.end() || number >= row->second.instructions.size() ? nullptr
                                                                                     : row->second.instructions[number];
}

const llvm::Instruction* DeepProgram::instruction(const InstructionRef& ref) const {
  const llvm::Function* in = function(ref.module, ref.function);
  return in == nullptr ? nullptr : instruction(*in, ref.instruction);
}

std::uint32_t DeepProgram::number(const llvm::Instruction& instruction) const {
  return state_->numbers.lookup(&instruction);
}

InstructionRef DeepProgram::ref(const llvm::Instruction& instruction) const {
  const auto row = state_->functions.find(instruction.getFunction());
  return row == state_->functions.end() ? InstructionRef{}
                                        : InstructionRef{row->second.module, row->second.number, number(instruction)};
}

std::optional<std::uint64_t> DeepProgram::address(std::uint32_t module, const llvm::GlobalValue& global) const {
  if (module >= modules()) {
    return std::nullopt;
  }
  const auto& addresses = state_->modules[module].addresses;
  const auto found = addresses.find(&global);
  return found == addresses.end() ? std::nullopt : std::optional(found->second);
}

std::optional<DeepProgram::Place> DeepProgram::function_at(std::uint64_t address) const {
  const auto found = state_->by_address.find(address);
  return found == state_->by_address.end() ? std::nullopt : std::optional(found->second);
}

bool DeepProgram::is_recorded(const llvm::Function& function) const {
  return !function.isDeclaration() && !function.hasFnAttribute(deep::kNotDeep);
}

bool DeepProgram::is_followed(const llvm::CallBase& call) const {
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr && callee->hasExactDefinition() && is_recorded(*callee);
}

Site DeepProgram::site(const llvm::Instruction& instruction) const {
  Site site;
  site.function = demangle(instruction.getFunction()->getName().str());
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  // As in a recording: headers that only pass things on are no place, as long as they were inlined into one.
  while (location != nullptr && location->getInlinedAt() != nullptr && is_library_glue(file_of(*location))) {
    location = location->getInlinedAt();
  }
  if (location != nullptr && location->getInlinedAt() != nullptr) {
    site.function = demangle(location->getScope()->getSubprogram()->getName().str());
  }
  if (location == nullptr || location->getLine() == 0) {
    site.label = site.function;
    return site;
  }
  site.file = file_of(*location);
  site.line = location->getLine();
  site.column = location->getColumn();
  site.label = site.file + ":" + std::to_string(site.line);
  if (site.column != 0) {
    site.label += ":" + std::to_string(site.column);
  }
  return site;
}

}  // namespace sooth
