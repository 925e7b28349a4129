// Strong ids: enum classes over integers, so that a thread cannot be passed for a site.
#pragma once

#include <cstddef>
#include <type_traits>

namespace sooth {

// The integer behind a strong id, for indexing and printing.
template <typename Id>
  requires std::is_enum_v<Id>
constexpr std::underlying_type_t<Id> raw(Id id) { return static_cast<std::underlying_type_t<Id>>(id); }

// The id `offset` after `id`.
template <typename Id>
  requires std::is_enum_v<Id>
constexpr Id advance(Id id, std::size_t offset) { return static_cast<Id>(raw(id) + offset); }

}  // namespace sooth
