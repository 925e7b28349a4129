#include "recipe/witness/exception_types.h"

#include <algorithm>
#include <iterator>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace sooth {
namespace {

constexpr llvm::StringLiteral kPrefix = "_ZTI";
constexpr std::uint32_t kAnything = 0x7fffffff;  // the selector of catch (...)

// Classes of namespace std as names of types spell them, and what they are derived from.
struct Standard {
  const char* name;
  const char* base;
};
constexpr Standard kStandard[] = {
    {"St9exception", ""},
    {"St11logic_error", "St9exception"},
    {"St12domain_error", "St11logic_error"},
    {"St16invalid_argument", "St11logic_error"},
    {"St12length_error", "St11logic_error"},
    {"St12out_of_range", "St11logic_error"},
    {"St12future_error", "St11logic_error"},
    {"St13runtime_error", "St9exception"},
    {"St11range_error", "St13runtime_error"},
    {"St14overflow_error", "St13runtime_error"},
    {"St15underflow_error", "St13runtime_error"},
    {"St12system_error", "St13runtime_error"},
    {"St9bad_alloc", "St9exception"},
    {"St20bad_array_new_length", "St9bad_alloc"},
    {"St8bad_cast", "St9exception"},
    {"St10bad_typeid", "St9exception"},
    {"St13bad_exception", "St9exception"},
    {"St17bad_function_call", "St9exception"},
};

struct Thrower {
  llvm::StringLiteral function;
  const char* type;
};
constexpr Thrower kThrowers[] = {
    {"_ZSt19__throw_logic_errorPKc", "St11logic_error"},
    {"_ZSt20__throw_length_errorPKc", "St12length_error"},
    {"_ZSt20__throw_out_of_rangePKc", "St12out_of_range"},
    {"_ZSt24__throw_out_of_range_fmtPKcz", "St12out_of_range"},
    {"_ZSt24__throw_invalid_argumentPKc", "St16invalid_argument"},
    {"_ZSt20__throw_domain_errorPKc", "St12domain_error"},
    {"_ZSt21__throw_runtime_errorPKc", "St13runtime_error"},
    {"_ZSt19__throw_range_errorPKc", "St11range_error"},
    {"_ZSt22__throw_overflow_errorPKc", "St14overflow_error"},
    {"_ZSt17__throw_bad_allocv", "St9bad_alloc"},
    {"_ZSt28__throw_bad_array_new_lengthv", "St20bad_array_new_length"},
    {"_ZSt16__throw_bad_castv", "St8bad_cast"},
    {"_ZSt25__throw_bad_function_callv", "St17bad_function_call"},
};

// By the first letter of the type's name: pointers and the like may be converted, numbers are never.
bool is_class(const std::string& key) {
  const char first = key.size() > kPrefix.size() ? key[kPrefix.size()] : ' ';
  return (first >= '0' && first <= '9') || first == 'N' || first == 'S' || first == 'Z';
}
bool is_number(const std::string& key) {
  const char first = key.size() > kPrefix.size() ? key[kPrefix.size()] : ' ';
  return first >= 'a' && first <= 'z';
}

std::string with_prefix(const char* name) { return kPrefix.str() + name; }

}  // namespace

ExceptionTypes::ExceptionTypes(const DeepProgram& program) {
  for (const Standard& type : kStandard) {
    types_[with_prefix(type.name)] = {0, *type.base == 0 ? std::string() : with_prefix(type.base), true};
  }
  for (std::uint32_t m = 0; m < program.modules(); ++m) {
    for (const llvm::GlobalVariable& global : program.module(m).globals()) {
      const std::string name = key(global);
      if (name.empty()) {
        continue;
      }
      Type& type = types_[name];
      const auto* parts =
          global.hasInitializer() ? llvm::dyn_cast<llvm::ConstantStruct>(global.getInitializer()) : nullptr;
      const llvm::Value* kind = parts == nullptr ? nullptr : parts->getOperand(0)->stripInBoundsConstantOffsets();
      const llvm::StringRef kind_name = kind != nullptr ? kind->getName() : llvm::StringRef();
      if (kind_name == "_ZTVN10__cxxabiv117__class_type_infoE") {
        type = {0, "", true};
      } else if (kind_name == "_ZTVN10__cxxabiv120__si_class_type_infoE" && parts->getNumOperands() == 3) {
        type = {0, key(*parts->getOperand(2)->stripPointerCasts()), true};
      }
    }
  }
  std::uint32_t number = 0;
  for (auto& [name, type] : types_) {
    type.number = ++number;
  }
}

std::string ExceptionTypes::key(const llvm::Value& description) {
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&description);
  if (global == nullptr || !global->getName().starts_with(kPrefix)) {
    return "";
  }
  const std::string name = global->getName().str();
  return global->hasLocalLinkage() ? name + "#" + std::to_string(reinterpret_cast<std::uintptr_t>(global->getParent()))
                                   : name;
}

std::uint32_t ExceptionTypes::number(const std::string& key) const {
  const auto type = types_.find(key);
  return type == types_.end() ? 0 : type->second.number;
}

ExceptionTypes::Answer ExceptionTypes::catches(const std::string& handler, const std::string& thrown) const {
  if (handler == thrown) {
    return Answer::kYes;
  }
  if (!is_class(handler) || !is_class(thrown)) {
    const bool is_plain = is_class(handler) || is_number(handler) || is_class(thrown) || is_number(thrown);
    return is_plain ? Answer::kNo : Answer::kUnknown;
  }
  std::string type = thrown;
  for (std::size_t depth = 0; depth < types_.size(); ++depth) {
    const auto known = types_.find(type);
    if (known == types_.end() || !known->second.is_described) {
      return Answer::kUnknown;
    }
    type = known->second.base;
    if (type == handler || type.empty()) {
      return type.empty() ? Answer::kNo : Answer::kYes;
    }
  }
  return Answer::kUnknown;
}

ExceptionTypes::Landing ExceptionTypes::landing(const llvm::LandingPadInst& pad, const std::string& thrown) const {
  for (unsigned i = 0; i < pad.getNumClauses(); ++i) {
    const llvm::Constant* clause = pad.getClause(i);
    if (!pad.isCatch(i)) {  // what may be thrown
      return {Landing::Kind::kUnknown};
    }
    if (clause->isNullValue()) {
      return {Landing::Kind::kCatches, kAnything};
    }
    const std::string handler = key(*clause->stripPointerCasts());
    const Answer answer = handler.empty() ? Answer::kUnknown : catches(handler, thrown);
    if (answer != Answer::kNo) {
      const std::uint32_t selector = number(handler);
      return answer == Answer::kYes && selector != 0 ? Landing{Landing::Kind::kCatches, selector}
                                                     : Landing{Landing::Kind::kUnknown};
    }
  }
  return {pad.isCleanup() ? Landing::Kind::kCleans : Landing::Kind::kPasses};
}

std::string ExceptionTypes::thrown_by(llvm::StringRef function) {
  const auto* thrower = std::find_if(std::begin(kThrowers), std::end(kThrowers),
                                     [&](const Thrower& each) { return each.function == function; });
  return thrower == std::end(kThrowers) ? "" : with_prefix(thrower->type);
}

ExceptionTypes::Member ExceptionTypes::member(llvm::StringRef function) {
  if (!function.consume_front("_ZN")) {
    return Member::kNone;
  }
  for (const Standard& type : kStandard) {
    llvm::StringRef rest = function;
    if (rest.consume_front(type.name)) {
      if (rest.starts_with("C1E") || rest.starts_with("C2E")) {
        return Member::kConstructor;
      }
      if (rest == "D1Ev" || rest == "D2Ev") {
        return Member::kDestructor;
      }
    }
  }
  return Member::kNone;
}

}  // namespace sooth
