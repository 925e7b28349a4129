#include "deep/admit.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <algorithm>
#include <cstdint>

#include "base/cage.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMostBits = 1u << 16;
constexpr std::uint64_t kMostScalars = 1u << 12;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47;  // the memory of a process
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
constexpr unsigned kDeepest = 2048;
constexpr unsigned kLongestChain = 1u << 20;  // of scopes and inlined calls
constexpr std::uint64_t kMostParts = 1u << 16;

// How large a type is: `scalars` as a value, `bytes` in memory at least. Sums stop at kMostBytes.
struct Extent {
  std::uint64_t scalars = 0;
  std::uint64_t bytes = 0;
};

std::uint64_t times(std::uint64_t count, std::uint64_t size) {
  return size != 0 && count > kMostBytes / size ? kMostBytes : std::min(count * size, kMostBytes);
}

class Admission {
 public:
  explicit Admission(const llvm::Module& module) : module_(module), layout_(module.getDataLayout()) {}

  std::string why_not() {
    if (layout_.isBigEndian() || layout_.getPointerSizeInBits(0) != 64 || layout_.getIndexSizeInBits(0) != 64) {
      return "it is for a machine whose pointers have not 64 bits, or whose bytes are in the other order";
    }
    bool broken_debug_information = false;
    if (llvm::verifyModule(module_, nullptr, &broken_debug_information) || broken_debug_information) {
      return "LLVM's verifier rejects it";
    }
    for (const llvm::GlobalVariable& global : module_.globals()) {
      if (!is_type_fine(global.getValueType()) ||
          (global.hasInitializer() && !is_constant_fine(*global.getInitializer()))) {
        return problem_;
      }
    }
    for (const llvm::GlobalAlias& alias : module_.aliases()) {
      if (!is_type_fine(alias.getValueType()) || !is_constant_fine(*alias.getAliasee())) {
        return problem_;
      }
    }
    for (const llvm::Function& function : module_) {
      if (!is_function_fine(function)) {
        return problem_;
      }
    }
    return "";
  }

 private:
  bool no(const char* why) {
    problem_ = why;
    return false;
  }

  // Types contain themselves through pointers only, and those name nothing.
  bool measure(llvm::Type* type, Extent& extent, unsigned depth) {
    if (depth > kDeepest) {
      return no("its types are nested too deep");
    }
    if (const auto known = extents_.find(type); known != extents_.end()) {
      extent = known->second;
      return true;
    }
    if (auto* integer = llvm::dyn_cast<llvm::IntegerType>(type)) {
      if (integer->getBitWidth() > kMostBits) {
        return no("it has integers of more than 65536 bits");
      }
      extent = {(integer->getBitWidth() + std::uint64_t{63}) / 64, (integer->getBitWidth() + std::uint64_t{7}) / 8};
    } else if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(type)) {
      const unsigned space = pointer->getAddressSpace();
      if (layout_.getPointerSizeInBits(space) > 64 || layout_.getIndexSizeInBits(space) > 64) {
        return no("it has pointers of more than 64 bits");
      }
      extent = {1, 8};
    } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      if (structure->isOpaque()) {
        extent = {};
        return true;
      }
      if (!measure_parts(structure->elements(), extent, depth)) {
        return false;
      }
    } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      if (!measure_many(array->getElementType(), array->getNumElements(), extent, depth)) {
        return false;
      }
    } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      if (!measure_many(vector->getElementType(), vector->getNumElements(), extent, depth)) {
        return false;
      }
    } else if (type->isScalableTy() || type->isTargetExtTy()) {
      return no("it has types whose size is not known");
    } else {
      extent = {2, 16};  // floating point, and what is no value in memory
    }
    if (extent.bytes >= kMostBytes) {
      return no("it has types that no memory can hold");
    }
    extents_[type] = extent;
    return true;
  }

  bool measure_parts(llvm::ArrayRef<llvm::Type*> parts, Extent& extent, unsigned depth) {
    Extent all;
    for (llvm::Type* part : parts) {
      Extent own;
      if (!measure(part, own, depth + 1)) {
        return false;
      }
      all.scalars = std::min(all.scalars + own.scalars, kMostBytes);
      // Alignment may add as much again and again, but never more than this.
      all.bytes = std::min(all.bytes + own.bytes + 16, kMostBytes);
    }
    extent = all;
    return true;
  }

  bool measure_many(llvm::Type* element, std::uint64_t count, Extent& extent, unsigned depth) {
    Extent one;
    if (!measure(element, one, depth + 1)) {
      return false;
    }
    if (count > kMostElements || (one.bytes == 0 && count > kMostScalars)) {
      return no("it has arrays that no memory can hold");
    }
    extent = {times(count, one.scalars), times(count, one.bytes)};
    return true;
  }

  // Of something in memory.
  bool is_type_fine(llvm::Type* type) {
    Extent extent;
    return measure(type, extent, 0);
  }

  // Of what a pointer steps over. The verifier looks at instructions, not at constants; and LLVM does not come back from the
  // question how large a function is.
  bool is_stride_fine(llvm::Type* type) {
    return is_type_fine(type) && (type->isSized() || no("it has types whose size is not known"));
  }

  // Of something in a register.
  bool is_value_fine(llvm::Type* type) {
    Extent extent;
    return measure(type, extent, 0) &&
           (extent.scalars <= kMostScalars || no("it has values of more than 4096 scalars"));
  }

  // Parts of a constant, each as often as it is used. 0: not fine.
  std::uint64_t parts_of(const llvm::Constant& constant, unsigned depth) {
    if (depth > kDeepest) {
      no("its constants are nested too deep");
      return 0;
    }
    if (const auto known = parts_.find(&constant); known != parts_.end()) {
      return known->second;
    }
    if (!is_type_fine(constant.getType())) {
      return 0;
    }
    if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(&constant);
        gep != nullptr && !is_stride_fine(gep->getSourceElementType())) {
      return 0;
    }
    std::uint64_t parts = 1;
    const bool has_parts = !llvm::isa<llvm::GlobalValue>(constant) && !llvm::isa<llvm::BlockAddress>(constant);
    for (unsigned i = 0; has_parts && i < constant.getNumOperands(); ++i) {
      const auto* part = llvm::dyn_cast<llvm::Constant>(constant.getOperand(i));
      const std::uint64_t own = part == nullptr ? 1 : parts_of(*part, depth + 1);
      if (own == 0) {
        return 0;
      }
      parts = std::min(parts + own, kMostBytes);
    }
    parts_[&constant] = parts;
    return parts;
  }

  // An initialiser has as many parts as it likes: its bytes bound them.
  bool is_constant_fine(const llvm::Constant& constant) {
    const std::uint64_t parts = parts_of(constant, 0);
    Extent extent;
    return parts != 0 && measure(constant.getType(), extent, 0) &&
           (parts <= std::max(kMostParts, 4 * (extent.bytes + extent.scalars)) || no("it has constants without end"));
  }

  bool is_operand_fine(const llvm::Value& operand) {
    if (!is_value_fine(operand.getType())) {
      return false;
    }
    const auto* constant = llvm::dyn_cast<llvm::Constant>(&operand);
    if (constant == nullptr || llvm::isa<llvm::GlobalValue>(constant)) {
      return true;
    }
    const std::uint64_t parts = parts_of(*constant, 0);
    return parts != 0 && (parts <= kMostParts || no("it has constants without end"));
  }

  bool is_function_fine(const llvm::Function& function) {
    for (const llvm::Argument& argument : function.args()) {
      if (!is_value_fine(argument.getType()) ||
          (argument.hasByValAttr() && !is_type_fine(argument.getParamByValType()))) {
        return false;
      }
    }
    if (!is_value_fine(function.getReturnType())) {
      return false;
    }
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        if (!is_instruction_fine(instruction)) {
          return false;
        }
      }
    }
    return true;
  }

  static bool is_text(const llvm::Metadata* text) { return text == nullptr || llvm::isa<llvm::MDString>(text); }

  // What DeepProgram::site() reads there as text is text: LLVM's reader believes what the file says, and its verifier
  // does not ask.
  static bool is_named(const llvm::DILocalScope& scope) {
    const llvm::Metadata* raw_file = scope.getRawFile();
    const auto* file = llvm::dyn_cast_or_null<llvm::DIFile>(raw_file);
    const auto* function = llvm::dyn_cast<llvm::DISubprogram>(&scope);
    return (raw_file == nullptr || file != nullptr) &&
           (file == nullptr || (is_text(file->getOperand(0)) && is_text(file->getOperand(1)))) &&
           (function == nullptr || is_text(function->getOperand(2)));
  }

  // The chains that DeepProgram::site() follows have an end, and at it a function.
  bool is_place_fine(const llvm::DILocation* location) {
    for (unsigned depth = 0; location != nullptr && places_.insert(location).second; ++depth) {
      const auto* scope = llvm::dyn_cast_or_null<llvm::DILocalScope>(location->getRawScope());
      const bool has_file = scope != nullptr && is_named(*scope);
      for (unsigned inner = 0; scope != nullptr && !llvm::isa<llvm::DISubprogram>(scope); ++inner) {
        const auto* block = inner < kLongestChain ? llvm::dyn_cast<llvm::DILexicalBlockBase>(scope) : nullptr;
        scope = block == nullptr ? nullptr : llvm::dyn_cast_or_null<llvm::DILocalScope>(block->getRawScope());
      }
      const llvm::Metadata* outer = location->getRawInlinedAt();
      if (scope == nullptr || !has_file || !is_named(*scope) || depth > kLongestChain ||
          (outer != nullptr && !llvm::isa<llvm::DILocation>(outer))) {
        return no("its debug information names no place");
      }
      if (outer == location) {
        return no("its debug information goes round in circles");
      }
      location = llvm::cast_or_null<llvm::DILocation>(outer);
    }
    return true;
  }

  bool is_instruction_fine(const llvm::Instruction& instruction) {
    if (!is_value_fine(instruction.getType()) || !is_place_fine(instruction.getDebugLoc().get())) {
      return false;
    }
    if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        local != nullptr && !is_type_fine(local->getAllocatedType())) {
      return false;
    }
    if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
        gep != nullptr && !is_type_fine(gep->getSourceElementType())) {
      return false;
    }
    return std::all_of(instruction.op_begin(), instruction.op_end(),
                       [this](const llvm::Use& operand) { return is_operand_fine(*operand.get()); });
  }

  const llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<llvm::Type*, Extent> extents_;
  llvm::DenseMap<const llvm::Constant*, std::uint64_t> parts_;
  llvm::DenseSet<const llvm::DILocation*> places_;
  std::string problem_;
};

// Sentences of LLVM may quote what it has read, or memory beside it. Only plain words get through.
std::string plain(const std::string& text) {
  const bool is_plain = text.size() < 200 && std::all_of(text.begin(), text.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                 c == ' ' || c == '.' || c == ',' || c == '(' || c == ')' || c == '\'' || c == ':' ||
                                 c == '-' || c == '_';
                        });
  return is_plain ? text : "LLVM cannot read it";
}

}  // namespace

llvm::Expected<std::unique_ptr<llvm::Module>> parse_admitted(const KeptModule& kept, llvm::LLVMContext& context,
                                                             bool* complained) {
  // Without it, complaints are printed, and some end the process.
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo*, void* flag) {
        if (flag != nullptr) {
          *static_cast<bool*>(flag) = true;
        }
      },
      complained);
  return llvm::parseBitcodeFile(llvm::MemoryBufferRef(kept.bitcode, "module"), context);
}

std::string why_not_admitted(const llvm::Module& module) { return Admission(module).why_not(); }

Status admit(std::span<const KeptModule> modules) {
  std::uint64_t bytes = 0;
  for (const KeptModule& kept : modules) {
    bytes += kept.bitcode.size();
  }
  CageLimits limits;
  limits.memory += 64 * bytes;
  limits.cpu_seconds += static_cast<unsigned>(bytes >> 20);
  const Result<std::string> answer = run_caged(limits, [&]() -> std::string {
    llvm::install_fatal_error_handler([](void*, const char*, bool) { leave_cage(); });
    llvm::LLVMContext context;
    bool complained = false;  // the reader strips debug information that is broken, and goes on
    for (std::size_t number = 0; number < modules.size(); ++number) {
      const std::string where = "module " + std::to_string(number) + ": ";
      if (modules[number].bitcode.empty()) {
        continue;
      }
      llvm::Expected<std::unique_ptr<llvm::Module>> module = parse_admitted(modules[number], context, &complained);
      if (!module) {
        return where + plain(llvm::toString(module.takeError()));
      }
      if (const std::string why = why_not_admitted(**module); !why.empty() || complained) {
        return where + (why.empty() ? "its debug information is broken" : why);
      }
    }
    return "";
  });
  if (!answer.ok()) {
    return answer.status().code() == ExitCode::kBadInput
               ? Status::bad_input("this is no code that a compiler has made: reading it, " + answer.status().message())
               : answer.status();
  }
  return answer->empty() ? Status() : Status::bad_input("this is no code that a compiler has made: " + *answer);
}

}  // namespace sooth
