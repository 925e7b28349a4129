#include "symbol/unit_index.h"

#include <dwarf.h>

#include <algorithm>
#include <string_view>

#include "symbol/demangle.h"

namespace sooth {
namespace {

// Nested deeper, a tree is damaged; recursion stops there.
constexpr std::size_t kMaxDepth = 200;

const char* plain_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
}

// The address of a variable whose location is nothing but an address. Those of thread locals and of locals are not.
bool fixed_address(Dwarf_Die& die, std::uint64_t& address) {
  Dwarf_Attribute attribute;
  Dwarf_Block block;
  if (dwarf_attr(&die, DW_AT_location, &attribute) == nullptr || dwarf_formblock(&attribute, &block) != 0 ||
      block.length == 0) {
    return false;
  }
  const std::uint8_t first = block.data[0];  // looked at before libdw parses and remembers the expression
  if (first != DW_OP_addr && first != DW_OP_addrx && first != DW_OP_GNU_addr_index) {
    return false;
  }
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) {
    return false;
  }
  if (operations->atom == DW_OP_addr) {
    address = operations->number;
    return true;
  }
  Dwarf_Attribute indexed;
  return dwarf_getlocation_attr(&attribute, operations, &indexed) == 0 && dwarf_formaddr(&indexed, &address) == 0;
}

// Where a thread-local variable lies in the block that each thread has: a number, and an operation that adds the block.
bool thread_local_offset(Dwarf_Die& die, std::uint64_t& offset) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(&die, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 2 ||
      (operations[1].atom != DW_OP_form_tls_address && operations[1].atom != DW_OP_GNU_push_tls_address)) {
    return false;
  }
  switch (operations[0].atom) {
    case DW_OP_addr:
    case DW_OP_const4u:
    case DW_OP_const8u:
    case DW_OP_constu: offset = operations[0].number; return true;
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index: {
      Dwarf_Attribute indexed;
      return dwarf_getlocation_attr(&attribute, operations, &indexed) == 0 &&
             (dwarf_formaddr(&indexed, &offset) == 0 || dwarf_formudata(&indexed, &offset) == 0);
    }
    default: return false;
  }
}

// Its location is nothing but a constant and thread-local storage: looked at before libdw parses and remembers it.
bool may_be_thread_local(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Block block;
  if (dwarf_attr(&die, DW_AT_location, &attribute) == nullptr || dwarf_formblock(&attribute, &block) != 0 ||
      block.length == 0) {
    return false;
  }
  const std::uint8_t last = block.data[block.length - 1];
  return last == DW_OP_form_tls_address || last == DW_OP_GNU_push_tls_address;
}

}  // namespace

// The walk over the tree, with the dies around the current one.
class UnitIndex::Walk {
 public:
  explicit Walk(UnitIndex& index) : index_(index) {}

  void children(Dwarf_Die& parent, std::uint32_t scope) {
    Dwarf_Die die;
    if (path_.size() >= kMaxDepth || dwarf_child(&parent, &die) != 0) {
      return;
    }
    path_.push_back(&parent);
    do {
      visit(die, scope);
    } while (dwarf_siblingof(&die, &die) == 0);
    path_.pop_back();
  }

  std::vector<Range> ranges;

 private:
  void visit(Dwarf_Die& die, std::uint32_t scope) {
    switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
        note_enclosing(die);
        children(die, add_scope(die, kNoScope, false));
        break;
      case DW_TAG_inlined_subroutine: {
        const std::uint32_t added = add_scope(die, scope, true);
        children(die, added == kNoScope ? scope : added);
        break;
      }
      case DW_TAG_variable: visit_variable(die); break;
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block: children(die, scope); break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type: children(die, kNoScope); break;
      default: break;  // everything else contains no code
    }
  }

  std::uint32_t add_scope(Dwarf_Die& die, std::uint32_t parent, bool inlined) {
    const auto index = static_cast<std::uint32_t>(index_.scopes_.size());
    const std::size_t before = ranges.size();
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
      if (begin < end) {
        ranges.push_back({begin, end, index});
      }
    }
    if (ranges.size() == before) {
      return kNoScope;  // a declaration, or the description that its copies refer to
    }
    index_.scopes_.push_back({.die = die, .entry = ranges[before].begin, .parent = parent, .inlined = inlined});
    return index;
  }

  void visit_variable(Dwarf_Die& die) {
    std::uint64_t address = 0;
    const bool is_fixed = fixed_address(die, address);
    const bool is_local =
        std::any_of(path_.begin(), path_.end(), [](Dwarf_Die* outer) { return dwarf_tag(outer) == DW_TAG_subprogram; });
    if (is_fixed) {
      index_.variables_.push_back({die, address});
    }
    const bool is_of_threads = !is_fixed && may_be_thread_local(die) && thread_local_offset(die, address);
    if (is_of_threads) {
      index_.thread_locals_.push_back({die, address});
    }
    if (is_fixed || is_of_threads || !is_local) {
      note_enclosing(die);
    }
  }

  void note_enclosing(Dwarf_Die& die) {
    if (linkage_name(die) != nullptr) {
      return;
    }
    // The class of a lambda has no name.
    const char* name = plain_name(die);
    const bool is_lambda = name != nullptr && std::string_view(name).starts_with("operator()");
    std::string names;
    for (std::size_t i = 1; i < path_.size(); ++i) {  // [0] is the unit
      add_name(*path_[i], is_lambda ? "{lambda}::" : "{unnamed}::", names);
    }
    if (!names.empty()) {
      index_.enclosing_.emplace(dwarf_dieoffset(&die), std::move(names));
    }
  }

  // Appends the name of the die with :: behind it; blocks have none.
  static void add_name(Dwarf_Die& die, const char* unnamed_class, std::string& names) {
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
        tag == DW_TAG_inlined_subroutine) {
      return;
    }
    if (const char* mangled = linkage_name(die); mangled != nullptr) {
      names = demangle(mangled) + "::";  // has everything around it
      return;
    }
    const char* name = plain_name(die);
    if (name == nullptr) {
      names += tag == DW_TAG_namespace ? "(anonymous namespace)::" : unnamed_class;
    } else {
      names += std::string(name) + (tag == DW_TAG_subprogram ? "()::" : "::");
    }
  }

  UnitIndex& index_;
  std::vector<Dwarf_Die*> path_;
};

UnitIndex::UnitIndex(CompileUnit& unit) {
  if (!unit.has_tree) {
    return;
  }
  Walk walk(*this);
  walk.children(unit.tree, kNoScope);
  flatten(std::move(walk.ranges));
}

// A sweep from low to high addresses with the stack of scopes that are open: each piece belongs to the top one.
void UnitIndex::flatten(std::vector<Range> ranges) {
  // Where two begin together the longer one is outside; for equal ones the parent has the smaller index.
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end > b.end : a.scope < b.scope;
  });
  std::vector<Range> open;
  std::uint64_t done = 0;  // all below it is in segments_
  const auto advance_to = [&](std::uint64_t address) {
    while (!open.empty() && done < address) {
      const std::uint64_t end = std::min(open.back().end, address);
      if (done < end) {
        segments_.push_back({done, end, open.back().scope});
        done = end;
      }
      if (open.back().end <= done) {
        open.pop_back();
      }
    }
    done = address;
  };
  for (const Range& range : ranges) {
    advance_to(range.begin);
    open.push_back(range);
  }
  advance_to(~std::uint64_t{0});
}

std::uint32_t UnitIndex::find(std::uint64_t address) const {
  auto segment = std::upper_bound(segments_.begin(), segments_.end(), address,
                                  [](std::uint64_t value, const Range& r) { return value < r.begin; });
  if (segment == segments_.begin() || address >= std::prev(segment)->end) {
    return kNoScope;
  }
  return std::prev(segment)->scope;
}

const char* UnitIndex::linkage_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_linkage_name, &attribute));
  return name != nullptr ? name : dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_MIPS_linkage_name, &attribute));
}

std::string UnitIndex::qualified_name(Dwarf_Die die) const {
  const char* name = plain_name(die);
  if (name == nullptr) {
    return "";
  }
  // The names around it are those of its first declaration, to which copies and definitions refer.
  constexpr int kMaxHops = 8;
  std::string around;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    if (const auto found = enclosing_.find(dwarf_dieoffset(&die)); found != enclosing_.end()) {
      around = found->second;
    }
    Dwarf_Attribute attribute;
    Dwarf_Attribute* reference = dwarf_attr(&die, DW_AT_abstract_origin, &attribute);
    reference = reference != nullptr ? reference : dwarf_attr(&die, DW_AT_specification, &attribute);
    Dwarf_Die origin;
    if (reference == nullptr || dwarf_formref_die(reference, &origin) == nullptr) {
      break;
    }
    die = origin;
  }
  return around + name;
}

}  // namespace sooth
