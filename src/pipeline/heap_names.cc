#include "pipeline/heap_names.h"

#include <string_view>

#include "race/user_code.h"

namespace sooth {
namespace {

// Their elements have numbers.
bool is_sequence(std::string_view type) {
  return type.starts_with("std::vector<") || type.starts_with("std::string") || type.starts_with("std::basic_string<");
}

bool is_library_type(std::string_view type) { return type.starts_with("std::") || type.starts_with("__gnu_cxx::"); }

bool is_smart_pointer(std::string_view type) {
  return type.starts_with("std::unique_ptr<") || type.starts_with("std::shared_ptr<") ||
         type.starts_with("std::atomic<") || !is_library_type(type);
}

}  // namespace

std::string heap_name(const Tables& tables, TypeId type, std::uint64_t block_size, std::uint64_t offset,
                      std::uint64_t size, const std::optional<NamedPart>& owner) {
  const auto& types = tables.variables().types();
  const TypeLayout& held = types[raw(type)];
  const std::string owner_type = owner.has_value() ? types[raw(owner->type)].name : "";
  const bool is_many = held.size != 0 && (block_size >= 2 * held.size || is_sequence(owner_type));
  const std::uint64_t in_element = held.size != 0 ? offset % held.size : offset;
  const TypePart part = find_part(types, type, in_element, size);
  const std::uint64_t rest = part.opaque || held.size == 0 ? 0 : in_element - part.offset;
  const std::string behind = part.path + (rest == 0 ? "" : "+" + std::to_string(rest));
  const std::string index = is_many ? "[" + std::to_string(offset / held.size) + "]" : "";
  if (!owner.has_value()) {
    return held.name.empty() || is_library_type(held.name) ? "" : held.name + index + behind;
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
