#include "symbol/type_reader.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "symbol/readable_name.h"

namespace sooth {
namespace {

// A program has some thousands; more than this is no use to anybody.
constexpr std::size_t kMostTypes = 1u << 16;
constexpr std::size_t kMostMembers = 4096;
constexpr int kDeepestType = 64;

// What C calls by a typedef and nobody looks into.
constexpr std::array<std::string_view, 9> kOpaqueNames = {"pthread_mutex_t",
                                                          "pthread_cond_t",
                                                          "pthread_rwlock_t",
                                                          "pthread_spinlock_t",
                                                          "pthread_barrier_t",
                                                          "pthread_once_t",
                                                          "pthread_attr_t",
                                                          "sem_t",
                                                          "FILE"};

const char* name_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
}

bool has(Dwarf_Die& die, unsigned name) { return dwarf_hasattr(&die, name) != 0; }

std::optional<std::uint64_t> number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr_integrate(&die, name, &attribute), &value) != 0) {
    return std::nullopt;
  }
  return value;
}

bool target_of(Dwarf_Die& die, Dwarf_Die& target) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr_integrate(&die, DW_AT_type, &attribute), &target) != nullptr;
}

std::uint64_t bytes_of(Dwarf_Die& type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
}

constexpr char kAtomicName[] = "_Atomic";

bool is_qualifier(int tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
         tag == DW_TAG_atomic_type || tag == DW_TAG_restrict_type;
}

// How many elements a dimension has; 0 when that is not fixed.
std::uint64_t extent_of(Dwarf_Die& dimension) {
  if (const std::optional<std::uint64_t> count = number_of(dimension, DW_AT_count)) {
    return *count;
  }
  const std::optional<std::uint64_t> last = number_of(dimension, DW_AT_upper_bound);
  return last.has_value() && *last < ~std::uint64_t{0} ? *last + 1 : 0;
}

// Classes that libstdc++.so describes and programs only declare. They are as large as in our own library: their sizes are
// part of its binary interface.
struct LibraryClass {
  std::string_view name;  // how it begins, as debug information has it: other libraries have other inline namespaces
  std::uint64_t size;
};
constexpr std::array<LibraryClass, 6> kStreams = {
    {{"std::__cxx11::basic_ostringstream<char,", sizeof(std::ostringstream)},
     {"std::__cxx11::basic_istringstream<char,", sizeof(std::istringstream)},
     {"std::__cxx11::basic_stringstream<char,", sizeof(std::stringstream)},
     {"std::basic_ofstream<char,", sizeof(std::ofstream)},
     {"std::basic_ifstream<char,", sizeof(std::ifstream)},
     {"std::basic_fstream<char,", sizeof(std::fstream)}}};

// Where the elements of a std::array are: its own, as far as anybody is concerned.
bool is_array_storage(std::string_view name) { return name == "_M_elems" || name == "__elems_"; }

}  // namespace

TypeId TypeReader::add(TypeLayout layout) {
  if (catalog_.types_.size() >= kMostTypes) {
    return kNoType;
  }
  catalog_.types_.push_back(std::move(layout));
  return TypeId(catalog_.types_.size() - 1);
}

TypeId TypeReader::type_of(Dwarf_Die& die) {
  Dwarf_Die type;
  return target_of(die, type) ? read(type) : kNoType;
}

TypeId TypeReader::pointee_of(Dwarf_Die& die) {
  Dwarf_Die type;
  bool is_known = target_of(die, type);
  while (is_known && is_qualifier(dwarf_tag(&type))) {
    Dwarf_Die next;
    is_known = target_of(type, next);
    type = is_known ? next : type;
  }
  const int tag = is_known ? dwarf_tag(&type) : 0;
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ? type_of(type) : kNoType;
}

// Through typedefs and qualifiers.
TypeId TypeReader::read(Dwarf_Die type) {
  const char* alias = nullptr;
  for (int hops = 0; is_qualifier(dwarf_tag(&type)); ++hops) {
    const int tag = dwarf_tag(&type);
    const char* name = tag == DW_TAG_typedef ? name_of(type) : tag == DW_TAG_atomic_type ? kAtomicName : nullptr;
    alias = tag == DW_TAG_typedef ? name : alias;
    if (name != nullptr && (tag == DW_TAG_atomic_type ||
                            std::find(kOpaqueNames.begin(), kOpaqueNames.end(), name) != kOpaqueNames.end())) {
      const auto [known, is_new] = known_.try_emplace(type.addr, kNoType);
      if (is_new) {
        known->second = add({.name = name, .size = bytes_of(type), .opaque = true});
      }
      return known->second;
    }
    Dwarf_Die target;
    if (hops > kDeepestType || !target_of(type, target)) {
      return kNoType;
    }
    type = target;
  }
  if (const auto known = known_.find(type.addr); known != known_.end()) {
    return known->second;
  }
  if (depth_ >= kDeepestType) {
    return kNoType;
  }
  ++depth_;
  const TypeId id = read_bare(type, alias);
  --depth_;
  known_[type.addr] = id;
  if (depth_ == 0 && !reads_pointees_) {
    reads_pointees_ = true;
    for (const Dwarf_Die& pointee : std::exchange(pointees_, {})) {
      read(pointee);
    }
    reads_pointees_ = false;
  }
  return id;
}

TypeId TypeReader::read_bare(Dwarf_Die& type, const char* alias) {
  switch (dwarf_tag(&type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type: return read_record(type, alias, false);
    case DW_TAG_union_type: return read_record(type, alias, true);
    case DW_TAG_array_type: return read_array(type);
    case DW_TAG_pointer_type: return read_pointer(type);
    default: {
      const char* name = name_of(type);
      const std::uint64_t size = bytes_of(type);
      return size == 0 ? kNoType : add({.name = name != nullptr ? name : "", .size = size});
    }
  }
}

TypeId TypeReader::read_pointer(Dwarf_Die& type) {
  Dwarf_Die target;
  bool is_known = target_of(type, target);
  const Dwarf_Die named = target;
  const char* alias = nullptr;
  while (is_known && is_qualifier(dwarf_tag(&target))) {
    if (dwarf_tag(&target) == DW_TAG_atomic_type) {
      return add({.name = std::string(kAtomicName) + "*", .size = sizeof(void*)});  // what else it is does not matter
    }
    alias = dwarf_tag(&target) == DW_TAG_typedef ? name_of(target) : alias;
    Dwarf_Die next;
    is_known = target_of(target, next);
    target = is_known ? next : target;
  }
  const bool is_named = is_known && (name_of(target) != nullptr || alias != nullptr);
  std::string name = is_named ? record_name(target, alias) : "";
  if (!name.empty() && !reads_pointees_) {
    pointees_.push_back(named);
  }
  name += name.empty() ? "" : "*";
  return add({.name = std::move(name), .size = sizeof(void*)});
}

// C calls a struct without a name by its typedef.
std::string TypeReader::record_name(Dwarf_Die& type, const char* alias) {
  return name_of(type) == nullptr && alias != nullptr ? alias : readable_name(qualified(type));
}

TypeId TypeReader::read_record(Dwarf_Die& type, const char* alias, bool is_union) {
  const std::uint64_t size = bytes_of(type);
  if (has(type, DW_AT_declaration) || size == 0) {
    return read_declared(type);
  }
  TypeLayout layout{.name = record_name(type, alias), .size = size, .is_union = is_union};
  const bool is_named = name_of(type) != nullptr || alias != nullptr;
  if (is_named) {
    if (const auto same = catalog_.by_name_.find({layout.name, size}); same != catalog_.by_name_.end()) {
      return same->second;
    }
  }
  const bool is_library = layout.name.starts_with("std::") || layout.name.starts_with("__gnu_cxx::");
  add_members(type, is_library, layout);
  layout.opaque = is_library && layout.members.empty();
  if (layout.name.starts_with("std::atomic<")) {
    read_argument(type);
  }
  const auto key = std::pair(layout.name, size);
  const TypeId id = add(std::move(layout));
  if (is_named && id != kNoType) {
    catalog_.by_name_.emplace(key, id);
  }
  return id;
}

// What an atomic pointer points to has names, too.
void TypeReader::read_argument(Dwarf_Die& type) {
  Dwarf_Die child;
  for (int next = dwarf_child(&type, &child); next == 0; next = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) == DW_TAG_template_type_parameter) {
      type_of(child);
      return;
    }
  }
}

TypeId TypeReader::read_declared(Dwarf_Die& type) {
  const std::string name = qualified(type);
  if (const auto whole = whole_.find(name); whole != whole_.end() && whole->second.addr != nullptr) {
    return read(whole->second);
  }
  for (const LibraryClass& each : kStreams) {
    if (name.starts_with(each.name)) {
      return add({.name = readable_name(name), .size = each.size, .opaque = true});
    }
  }
  return kNoType;
}

void TypeReader::add_members(Dwarf_Die& type, bool is_library, TypeLayout& layout) {
  Dwarf_Die child;
  if (dwarf_child(&type, &child) != 0) {
    return;
  }
  do {
    const int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_member || (tag == DW_TAG_inheritance && !is_library)) && !has(child, DW_AT_external) &&
        !has(child, DW_AT_declaration) && layout.members.size() < kMostMembers) {
      add_member(child, is_library, layout);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

void TypeReader::add_member(Dwarf_Die& die, bool is_library, TypeLayout& layout) {
  const char* given = dwarf_tag(&die) == DW_TAG_inheritance ? nullptr : name_of(die);
  TypeMember member{.name = given != nullptr ? given : ""};
  // What the library keeps to itself has names that begin so, or none, as the buffer of a std::string.
  if (is_library && (member.name.empty() || member.name.starts_with("_")) && !is_array_storage(member.name)) {
    return;
  }
  member.name = is_array_storage(member.name) ? "" : member.name.starts_with("_vptr") ? "vptr" : member.name;
  // A virtual base has a place that only the program knows.
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_attr(&die, DW_AT_data_member_location, &attribute) != nullptr &&
      dwarf_formudata(&attribute, &offset) != 0) {
    return;
  }
  Dwarf_Die type;
  if (!target_of(die, type)) {
    return;
  }
  member.offset = offset;
  member.size = bytes_of(type);
  if (const std::optional<std::uint64_t> bits = number_of(die, DW_AT_bit_size)) {
    member.is_bit_field = true;
    std::uint64_t first = number_of(die, DW_AT_data_bit_offset).value_or(0) + 8 * offset;
    if (const std::optional<std::uint64_t> from_top = number_of(die, DW_AT_bit_offset)) {
      first = 8 * offset + 8 * member.size - *from_top - *bits;  // DWARF 2 and 3 count from the most significant bit
    }
    member.offset = first / 8;
    member.size = (first + *bits + 7) / 8 - member.offset;
  } else {
    member.type = read(type);
    member.size = member.size != 0 ? member.size : size(member.type);
  }
  if (member.size != 0 && member.offset < layout.size) {
    layout.members.push_back(std::move(member));
  }
}

// int a[2][3] is an array of arrays to us.
TypeId TypeReader::read_array(Dwarf_Die& type) {
  Dwarf_Die element, child;
  if (!target_of(type, element) || dwarf_child(&type, &child) != 0) {
    return kNoType;
  }
  std::vector<std::uint64_t> extents;
  do {
    if (dwarf_tag(&child) == DW_TAG_subrange_type) {
      extents.push_back(extent_of(child));
    }
  } while (dwarf_siblingof(&child, &child) == 0);
  TypeId id = read(element);
  std::uint64_t size = bytes_of(element);
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (extents[i] == 0 || size == 0 || extents[i] > ~std::uint64_t{0} / size) {
      return kNoType;
    }
    size *= extents[i];
    id = add({.name = "", .size = size, .element = id, .count = extents[i]});
  }
  return id;
}

// A die does not know what it is in: the way there is walked once.
std::string TypeReader::qualified(Dwarf_Die& type) {
  note_names();
  const char* name = name_of(type);
  const auto around = enclosing_.find(type.addr);
  return (around != enclosing_.end() ? around->second : "") + (name != nullptr ? name : "");
}

void TypeReader::note_names() {
  if (names_noted_) {
    return;
  }
  names_noted_ = true;
  for (CompileUnit& unit : file_.units()) {
    if (unit.has_tree) {
      note_names(unit.tree, "", 0);
    }
  }
}

void TypeReader::note_names(Dwarf_Die& parent, const std::string& around, int depth) {
  Dwarf_Die die;
  if (depth > kDeepestType || dwarf_child(&parent, &die) != 0) {
    return;
  }
  do {
    const int tag = dwarf_tag(&die);
    const bool is_class = tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
    if (is_class && !around.empty()) {
      enclosing_.emplace(die.addr, around);
    }
    if (is_class) {
      note_whole(die, around);
    }
    if (is_class || tag == DW_TAG_namespace) {
      const char* name = name_of(die);
      note_names(die,
                 around +
                     (name != nullptr           ? name
                      : tag == DW_TAG_namespace ? "(anonymous namespace)"
                                                : "") +
                     "::",
                 depth + 1);
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

// What has no linkage is whole in the unit that declares it, and so are most classes of the standard library.
void TypeReader::note_whole(Dwarf_Die& type, const std::string& around) {
  const char* name = name_of(type);
  if (name == nullptr || has(type, DW_AT_declaration) || bytes_of(type) == 0 || around.starts_with("std::") ||
      around.find("(anonymous namespace)") != std::string::npos) {
    return;
  }
  const auto [known, is_new] = whole_.try_emplace(around + name, type);
  if (!is_new && known->second.addr != nullptr && bytes_of(known->second) != bytes_of(type)) {
    known->second.addr = nullptr;  // C allows it, in units of their own
  }
}

}  // namespace sooth
