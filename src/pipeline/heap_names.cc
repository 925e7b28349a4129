#include "pipeline/heap_names.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "race/user_code.h"

namespace sooth {
namespace {

// Their elements have numbers.
bool is_sequence(std::string_view type) {
  return (type.starts_with("std::vector<") && !type.starts_with("std::vector<bool")) ||
         type.starts_with("std::string") || type.starts_with("std::basic_string<");
}

bool is_library_type(std::string_view type) { return type.starts_with("std::") || type.starts_with("__gnu_cxx::"); }

bool is_smart_pointer(std::string_view type) {
  return type.starts_with("std::unique_ptr<") || type.starts_with("std::shared_ptr<") ||
         type.starts_with("std::atomic<") || !is_library_type(type);
}

// What a pointer of that type points to, or an atomic one: one of the types with that name.
TypeId pointee(std::span<const TypeLayout> types, std::string_view pointer) {
  if (constexpr std::string_view kAtomic = "std::atomic<"; pointer.starts_with(kAtomic) && pointer.ends_with('>')) {
    pointer = pointer.substr(kAtomic.size(), pointer.size() - kAtomic.size() - 1);
  }
  if (!pointer.ends_with("*")) {
    return kNoType;
  }
  pointer.remove_suffix(pointer.ends_with(" *") ? 2 : 1);  // as clang writes it in the name of a template
  const auto found = std::find_if(types.begin(), types.end(), [&](const TypeLayout& type) {
    return type.size != 0 && !type.opaque && type.name == pointer;
  });
  return found == types.end() ? kNoType : TypeId(found - types.begin());
}

// Keeps its elements in blocks, and more than these: buckets, several of them, bits.
bool is_container(std::string_view type) { return is_library_type(type) && !is_smart_pointer(type); }

bool points_to_one(std::string_view type) {
  return type.starts_with("std::shared_ptr<") || type.starts_with("std::unique_ptr<") ||
         type.starts_with("std::weak_ptr<");
}

}  // namespace

std::string heap_part_type(const Tables& tables, TypeId type, std::uint64_t block_size, std::uint64_t offset,
                           std::uint64_t size, const std::optional<NamedPart>& owner) {
  const auto& types = tables.variables().types();
  if (types[raw(type)].size == 0 && owner.has_value()) {
    type = pointee(types, types[raw(owner->type)].name);
    const TypeLayout& held = types[raw(type)];
    // What is larger may be a class derived of it; bytes are what anything else is made in.
    const bool fits = held.members.empty() ? held.size > 1 : held.size == block_size;
    type = fits ? type : kNoType;
  }
  if (types[raw(type)].size == 0) {
    return "";
  }
  const TypePart found = find_part(types, type, offset % types[raw(type)].size, size);
  const TypeLayout& part = types[raw(found.type)];
  return found.is_bit_field ? "bit-field" : part.size < size ? "" : part.name;
}

std::string heap_name(const Tables& tables, TypeId type, std::uint64_t block_size, std::uint64_t offset,
                      std::uint64_t size, const std::optional<NamedPart>& owner) {
  const auto& types = tables.variables().types();
  const std::string owner_type = owner.has_value() ? types[raw(owner->type)].name : "";
  if (const TypeId known = pointee(types, owner_type);
      types[raw(type)].size == 0 && known != kNoType && block_size % types[raw(known)].size == 0) {
    type = known;  // malloc() does not know what for
  }
  const TypeLayout& held = types[raw(type)];
  const bool is_many = held.size != 0 && (block_size >= 2 * held.size || is_sequence(owner_type));
  const std::uint64_t in_element = held.size != 0 ? offset % held.size : offset;
  const TypePart part = find_part(types, type, in_element, size);
  const std::uint64_t rest = part.opaque || held.size == 0 ? 0 : in_element - part.offset;
  const std::string behind = part.path + (rest == 0 ? "" : "+" + std::to_string(rest));
  const std::string index = is_many ? "[" + std::to_string(offset / held.size) + "]" : "";
  if (!owner.has_value()) {
    if (held.name.empty() || is_library_type(held.name) || (behind.empty() && !is_many && held.members.empty())) {
      return "";  // "int" names nothing
    }
    // "int[2]" would be a type.
    return behind.empty() && is_many ? "element " + std::to_string(offset / held.size) + " of an array of " + held.name
                                     : held.name + index + behind;
  }
  if (points_to_one(owner_type) && (held.size == 0 || is_library_type(held.name))) {
    return "*" + owner->name;  // with what counts its references
  }
  if (is_container(owner_type) && !is_sequence(owner_type)) {
    return "element of " + owner->name;
  }
  if (held.size == 0 || held.opaque) {
    // clang describes no std::string: what has no type is no pointer, of which each has one.
    return is_smart_pointer(owner_type) && held.size == 0 && owner->type != kNoType
               ? (offset == 0 ? "*" + owner->name : "*" + owner->name + "+" + std::to_string(offset))
               : "element of " + owner->name;
  }
  if (is_many) {
    return owner->name + index + behind;
  }
  return behind.empty() ? "*" + owner->name
                        : owner->name + (behind.starts_with(".") ? "->" + behind.substr(1) : behind);
}

std::string heap_member(const Tables& tables, TypeId type, std::uint64_t offset, std::uint64_t size) {
  const auto& types = tables.variables().types();
  const TypeLayout& held = types[raw(type)];
  if (held.size == 0 || held.opaque || is_library_type(held.name)) {
    return "";
  }
  return bare_variable(find_part(types, type, offset % held.size, size).path);
}

}  // namespace sooth
