#include "symbol/local_variables.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "symbol/demangle.h"
#include "symbol/readable_name.h"

namespace sooth {
namespace {

constexpr int kFramePointer = 6;  // rbp and rsp, by the numbers of DWARF
constexpr int kStackPointer = 7;
constexpr int kDeepestBlock = 100;
constexpr std::size_t kMostVariables = 4096;
// A constructor follows its operator new within so many bytes.
constexpr std::uint64_t kConstructorWithin = 256;

std::optional<std::uint64_t> unsigned_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr_integrate(&die, name, &attribute), &value) != 0) {
    return std::nullopt;
  }
  return value;
}

const char* name_at(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
}

// An expression that is a register and a number.
struct RegisterPlace {
  int number = 0;
  std::int64_t offset = 0;
};
std::optional<RegisterPlace> register_place(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) {
    return RegisterPlace{op.atom - DW_OP_reg0, 0};
  }
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
    return RegisterPlace{op.atom - DW_OP_breg0, static_cast<std::int64_t>(op.number)};
  }
  if (op.atom == DW_OP_bregx) {
    return RegisterPlace{static_cast<int>(op.number), static_cast<std::int64_t>(op.number2)};
  }
  return std::nullopt;
}

// The frame of one function: what its registers hold, reckoned from the canonical frame address.
class FrameWalk {
 public:
  FrameWalk(DebugFile& file, UnitIndex& unit, TypeReader& types) : file_(file), unit_(unit), types_(types) {}

  std::vector<ShortLived> run(Dwarf_Die function, std::uint64_t address) {
    find_canonical_address(address);
    find_base(function, address);
    visit(function, function_text(function), 0);
    return std::move(found_);
  }

 private:
  void find_canonical_address(std::uint64_t address) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* cfi = dwfl_module_eh_cfi(file_.module(), &bias);
    Dwarf_Frame* frame = nullptr;
    if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address - bias, &frame) != 0) {
      return;
    }
    const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> owned(frame, &std::free);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1) {
      canonical_ = register_place(ops[0]);
    }
  }

  // Where a register points, from the canonical frame address.
  std::optional<std::int64_t> offset_of(const RegisterPlace& place) const {
    if (canonical_.has_value() && canonical_->number == place.number) {
      return place.offset - canonical_->offset;
    }
    if (place.number == kFramePointer) {
      return place.offset - 16;  // under the return address and the caller's own
    }
    return std::nullopt;
  }

  void find_base(Dwarf_Die& function, std::uint64_t address) {
    Dwarf_Attribute attribute;
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) == nullptr ||
        dwarf_getlocation_addr(&attribute, address, &ops, &count, 1) != 1 || count != 1) {
      return;
    }
    if (ops[0].atom == DW_OP_call_frame_cfa) {
      base_ = 0;
    } else if (const std::optional<RegisterPlace> place = register_place(ops[0])) {
      base_ = offset_of(*place);
    }
  }

  std::string function_text(Dwarf_Die& function) const {
    const char* mangled = UnitIndex::linkage_name(function);
    return short_function(mangled != nullptr ? demangle(mangled) : unit_.qualified_name(function));
  }

  void visit(Dwarf_Die& parent, const std::string& function, int depth) {
    Dwarf_Die die;
    if (depth > kDeepestBlock || dwarf_child(&parent, &die) != 0) {
      return;
    }
    do {
      switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter: add(die, function); break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block: visit(die, function, depth + 1); break;
        case DW_TAG_inlined_subroutine: visit(die, function_text(die), depth + 1); break;
        default: break;
      }
    } while (dwarf_siblingof(&die, &die) == 0);
  }

  // The place in memory that the variable has for a part of its life at least.
  std::optional<std::int64_t> place_of(Dwarf_Die& variable) const {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&variable, DW_AT_location, &attribute) == nullptr) {
      return std::nullopt;
    }
    Dwarf_Addr base = 0, begin = 0, end = 0;
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_getlocations(&attribute, at, &base, &begin, &end, &ops, &count)) > 0;) {
      if (count != 1) {
        continue;
      }
      if (ops[0].atom == DW_OP_fbreg && base_.has_value()) {
        return *base_ + static_cast<std::int64_t>(ops[0].number);
      }
      const bool is_in_memory = ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_bregx && ops[0].atom != DW_OP_regx;
      const std::optional<RegisterPlace> place = is_in_memory ? register_place(ops[0]) : std::nullopt;
      if (place.has_value() && (place->number == kStackPointer || place->number == kFramePointer)) {
        return offset_of(*place);
      }
    }
    return std::nullopt;
  }

  void add(Dwarf_Die& variable, const std::string& function) {
    const char* name = name_at(variable);
    const std::optional<std::int64_t> place = place_of(variable);
    if (name == nullptr || !place.has_value() || found_.size() >= kMostVariables) {
      return;
    }
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size = 0;
    if (dwarf_formref_die(dwarf_attr_integrate(&variable, DW_AT_type, &attribute), &type) == nullptr) {
      return;
    }
    const TypeId id = types_.read(type);
    if (dwarf_aggregate_size(&type, &size) != 0) {
      size = types_.size(id);
    }
    if (size == 0 || size > 1u << 30) {
      return;
    }
    found_.push_back({name, function, *place, size, id});
  }

  DebugFile& file_;
  UnitIndex& unit_;
  TypeReader& types_;
  std::optional<RegisterPlace> canonical_;  // the canonical frame address
  std::optional<std::int64_t> base_;        // what DW_OP_fbreg counts from, from the canonical frame address
  std::vector<ShortLived> found_;
};

}  // namespace

std::vector<ShortLived> local_variables(DebugFile& file, UnitIndex& unit, const UnitIndex::Scope& function,
                                        std::uint64_t address, TypeReader& types) {
  return FrameWalk(file, unit, types).run(function.die, address);
}

namespace {

// The first child of a function that `wanted` takes. Copies refer to the function for their parameters.
template <typename Wanted>
std::optional<Dwarf_Die> child_of(Dwarf_Die function, Wanted wanted) {
  constexpr int kMostHops = 4;
  for (int hops = 0; hops < kMostHops; ++hops) {
    Dwarf_Die child;
    if (dwarf_child(&function, &child) == 0) {
      do {
        if (wanted(child)) {
          return child;
        }
      } while (dwarf_siblingof(&child, &child) == 0);
    }
    Dwarf_Attribute attribute;
    Dwarf_Attribute* reference = dwarf_attr(&function, DW_AT_abstract_origin, &attribute);
    Dwarf_Die origin;
    if (reference == nullptr || dwarf_formref_die(reference, &origin) == nullptr) {
      break;
    }
    function = origin;
  }
  return std::nullopt;
}

// Made around the pointer to a block, as in `std::atomic<Config*> config{new Config}`: it is not what the block holds.
bool takes_pointer(std::string_view type) {
  return (type.starts_with("std::atomic<") && type.ends_with("*>")) || type.starts_with("std::__atomic_base<") ||
         type.starts_with("std::unique_ptr<") || type.starts_with("std::__uniq_ptr_") ||
         type.starts_with("std::shared_ptr<") || type.starts_with("std::__shared_");
}

}  // namespace

TypeId class_of_constructor(Dwarf_Die function, TypeReader& types) {
  const char* name = name_at(function);
  std::optional<Dwarf_Die> self = child_of(function, [](Dwarf_Die& child) {
    const char* parameter = dwarf_tag(&child) == DW_TAG_formal_parameter ? name_at(child) : nullptr;
    return parameter != nullptr && std::string_view(parameter) == "this";
  });
  if (name == nullptr || !self.has_value()) {
    return kNoType;
  }
  const TypeId type = types.pointee_of(*self);
  const std::string& full = types.name(type);
  if (takes_pointer(full)) {
    return kNoType;
  }
  const std::string base = full.substr(0, full.find('<'));
  const std::size_t colons = base.rfind("::");
  return base.substr(colons == std::string::npos ? 0 : colons + 2) == name ? type : kNoType;
}

TypeId first_template_argument(Dwarf_Die function, TypeReader& types) {
  std::optional<Dwarf_Die> argument =
      child_of(function, [](Dwarf_Die& child) { return dwarf_tag(&child) == DW_TAG_template_type_parameter; });
  if (!argument.has_value()) {
    return kNoType;
  }
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Attribute* reference = dwarf_attr(&*argument, DW_AT_type, &attribute);
  const bool is_array =
      reference != nullptr && dwarf_formref_die(reference, &type) != nullptr && dwarf_tag(&type) == DW_TAG_array_type;
  return types.type_of(is_array ? type : *argument);
}

TypeId constructed_type(UnitIndex& unit, std::uint32_t at, std::uint64_t address, std::uint32_t line,
                        TypeReader& types) {
  const UnitIndex::Scope* next = nullptr;
  for (const UnitIndex::Scope& scope : unit.scopes()) {
    const bool is_near =
        scope.inlined && scope.parent == at && scope.entry > address && scope.entry - address <= kConstructorWithin;
    if (is_near && (next == nullptr || scope.entry < next->entry)) {
      Dwarf_Die die = scope.die;
      if (unsigned_of(die, DW_AT_call_line) == line && class_of_constructor(die, types) != kNoType) {
        next = &scope;
      }
    }
  }
  return next == nullptr ? kNoType : class_of_constructor(next->die, types);
}

}  // namespace sooth
